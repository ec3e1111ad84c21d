#include "admin/commands.h"

namespace sluice::admin {
namespace {

const std::vector<Flag>& DrainFlags() {
  static const std::vector<Flag> flags = {
      {"timeout", "TIME", "", "10m", "how long to wait, up to 24h"},
      {"cancel", "", "", "", "end those that remain then, with the cause `drained`"},
      {"reason", "TEXT", "", "", "why, for the audit log and the records; at most 256 bytes"}};
  return flags;
}

}  // namespace

std::vector<Command> DrainCommands() {
  return {
      {.name = "endpoint list",
       .summary = "list the endpoints and what they do",
       .rpc = "ObserverService.ListEndpoints",
       .output =
           R"(One endpoint a line: its name, whether it gets requests, attempts that run, all since the start
and those that failed, the time to first frame to be expected, address, and what keeps requests
away. `ejected` ones failed too often, `trial` ones get one request at a time to show that they
are well again, `removed` ones are in the configuration no more, and still serve. An endpoint
whose name is looked up has a line for each address. JSON: an EndpointStatus a line.)",
       .examples = "sluicectl endpoint list\n"
                   "sluicectl endpoint list --pool chat",
       .flags = {{"pool", "POOL", "", "", "only those of this pool"}},
       .run = RunEndpointList},
      {.name = "pool list",
       .summary = "list the pools: who is in them, who waits, which keys are usable",
       .rpc = "ObserverService.ListEndpoints",
       .output =
           R"(One pool a line: exchanges that have a place in it, requests that wait for one, tokens of its
retry budget, and how many of its keys are usable, with what keeps the others from it. JSON: a
PoolStatus a line.)",
       .examples = "sluicectl pool list",
       .run = RunPoolList},
      {.name = "endpoint drain",
       .arguments = "NAME",
       .summary = "send no more requests to an endpoint, and wait until it serves nobody",
       .details =
           R"(NAME is POOL/ENDPOINT or pools/POOL/endpoints/ENDPOINT. Until `endpoint resume` or a restart of
the server it gets no new attempts. Those that run go on; with --cancel they are ended when the
time is up. An interrupt ends the wait: the endpoint stays drained, and nothing is cancelled.
)",
       .rpc = "ControlService.DrainEndpoint",
       .output =
           R"(How it ended; if the time was up before, the oldest exchanges that remain. Standard error says
how far it is. JSON: a DrainProgress a line. Exit code 0: nobody is left; 1: some are.)",
       .examples =
           "sluicectl endpoint drain chat/a\n"
           "sluicectl endpoint drain chat/a --timeout 30m --cancel --reason 'new driver' && reboot",
       .flags = DrainFlags(),
       .run = RunEndpointDrain},
      {.name = "endpoint resume",
       .arguments = "NAME",
       .summary = "send requests to a drained endpoint again",
       .details = "NAME is POOL/ENDPOINT or pools/POOL/endpoints/ENDPOINT.\n",
       .rpc = "ControlService.ResumeEndpoint",
       .output = "Its name and state. JSON: an EndpointStatus.",
       .examples = "sluicectl endpoint resume chat/a",
       .flags = {{"reason", "TEXT", "", "", "why, for the audit log; at most 256 bytes"}},
       .run = RunEndpointResume},
      {.name = "server drain",
       .summary = "accept nothing new at the whole server, and wait until it serves nobody",
       .details =
           R"(There is no way back but a restart; the server waits to be stopped. An interrupt ends the wait:
the server goes on draining, and nothing is cancelled.
)",
       .rpc = "ControlService.DrainServer",
       .output =
           R"(How it ended; if the time was up before, the oldest exchanges that remain. Standard error says
how far it is. JSON: a DrainProgress a line. Exit code 0: nobody is left; 1: some are.)",
       .examples = "sluicectl server drain --timeout 30m --cancel && systemctl stop sluiced",
       .flags = DrainFlags(),
       .run = RunServerDrain},
  };
}

}  // namespace sluice::admin
