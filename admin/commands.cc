#include "admin/commands.h"

#include <vector>

#include "admin/flag_values.h"

namespace sluice::admin {

namespace {

std::vector<Command> AllCommands() {
  std::vector<Command> commands = {
      {.name = "status",
       .summary = "show the state of the server",
       .rpc = "ObserverService.GetServerStatus",
       .output = "One name and its value a line. JSON: a ServerStatus.",
       .examples = "sluicectl status\n"
                   "sluicectl status --server unix:/run/sluice/control.sock --output json",
       .run = RunStatus},
      {.name = "watch",
       .summary = "show events as they happen",
       .details =
           "Goes on until interrupted. When the server cannot be reached any more it tries again "
           "and\n"
           "goes on where it stopped; if events are lost all the same, the stream says so.\n"
           "\n"
           "Filters take lists, as in --model a,b: an event is shown if it has one of the values "
           "of each\n"
           "filter that is given. Kinds: started, attempt, attempt_failed, first_byte, "
           "first_frame,\n"
           "chunk, usage, finished, config_changed, endpoint_state, key_state. Causes are what "
           "failed\n"
           "attempts and finished exchanges show; a wrong one gets the list.\n"
           "\n"
           "With --resume-file a watch that has ended goes on where it stopped. The file is "
           "replaced after\n"
           "the events of a response were written to standard output. So an interrupt loses and "
           "doubles\n"
           "none; after a kill none is lost, but those of the last response (at most 128) may "
           "come a\n"
           "second time, with the sequence they had, after a line that was cut short. One watch "
           "at a time\n"
           "may use a file.\n",
       .rpc = "ObserverService.WatchEvents",
       .output = "One event a line: time, exchange, kind, model, pool/endpoint, facts. JSON: an "
                 "Event a line,\n"
                 "or {\"lost\":{\"count\":...,\"reason\":...}} where events are missing.",
       .examples = "sluicectl watch\n"
                   "sluicectl watch --tail 100\n"
                   "sluicectl watch --pool chat --kind attempt_failed,finished --since 10m\n"
                   "sluicectl watch --output json --resume-file watch.token >> events.jsonl\n"
                   "sluicectl watch --output json | jq 'select(.exchange_finished)'",
       .flags = {{"tail", "N", "", "0", "begin with the N latest events (up to 1000000)"},
                 {"since", "TIME", "", "",
                  "begin with the first event of TIME or later: how long ago (5m), or "
                  "2026-01-02T03:04:05Z"},
                 {"resume-file", "PATH", "", "",
                  "keep the place in PATH; if it holds one, go on there instead of --tail or "
                  "--since"},
                 {"no-follow", "", "", "", "end with the latest event"},
                 {"model", "LIST", "", "", "only events of these models"},
                 {"pool", "LIST", "", "", "only events of these pools"},
                 {"endpoint", "LIST", "", "",
                  "only events of these endpoints: chat/a or pools/chat/endpoints/a"},
                 {"principal", "LIST", "", "", "only events of these clients"},
                 {"kind", "LIST", "", "", "only events of these kinds", KindValues},
                 {"cause", "LIST", "", "", "only failures and ends with these causes", CauseValues},
                 {"exchange", "LIST", "", "",
                  "only events of these exchanges, by their whole ids"}},
       .run = RunWatch},
      {.name = "top",
       .summary = "show the server, its endpoints and its streams live, and cancel streams",
       .details =
           R"(Takes the terminal until q is pressed; h tells the keys. Looks again each --interval. Without a
terminal, with --once and with --output json it prints one picture instead, after two looks.
The filters choose among the streams; of more than 1000 the latest are shown.
)",
       .rpc = "each time ObserverService.GetServerStatus, ListEndpoints and ListExchanges;\n"
              "ControlService.CancelExchange for the key k",
       .output =
           R"(The screen. JSON: {"status":ServerStatus,"endpoints":ListEndpointsResponse,
"exchanges":ListExchangesResponse}.)",
       .examples = "sluicectl top\n"
                   "sluicectl top --pool chat --interval 5s\n"
                   "sluicectl top --once | mail -s sluice operators",
       .flags = {{"interval", "TIME", "", "1s", "how long to wait between two looks, from 100ms"},
                 {"once", "", "", "", "print one picture as text"},
                 {"model", "LIST", "", "", "only streams for these models"},
                 {"pool", "LIST", "", "", "only streams of these pools"},
                 {"endpoint", "LIST", "", "",
                  "only streams at these endpoints: chat/a or pools/chat/endpoints/a"},
                 {"principal", "LIST", "", "", "only streams of these clients"}},
       .run = RunTop},
      {.name = "usage",
       .summary = "sum up the tokens that were used",
       .details =
           R"(Of the exchanges that have ended since the server started; sluiced --ledger FILE keeps each one of
them. A client may name models that are not there; beyond some thousand names, exchanges are summed
up under (other).
)",
       .rpc = "ObserverService.GetUsage",
       .output =
           R"(Since when; one sum a line, that with the most tokens first: exchanges, how many of them completed
and how many reported their usage, then the tokens they reported: of prompts, of answers, in all,
from a cache, of reasoning. JSON: a GetUsageResponse.)",
       .examples =
           "sluicectl usage\n"
           "sluicectl usage --by principal,model\n"
           "sluicectl usage --by ''    # one sum of all\n"
           "sluicectl usage --by pool --output json | jq '.totals[] | [.pool, .total_tokens]'",
       .flags = {{"by", "LIST", "", "model",
                  "what sums are told apart by: principal, model, pool, endpoint",
                  UsageDimensionValues}},
       .run = RunUsage},
      {.name = "token new",
       .arguments = "NAME",
       .summary = "make a token, and the line that lets it in",
       .details =
           "Asks no server. Give the token to NAME, who keeps it in a file for --token-file; "
           "append the\n"
           "line to the file of sluiced --control_roles, which reads it within a second. The "
           "line has the\n"
           "SHA-256 of the token, from which nobody can make the token.\n"
           "\n"
           "A viewer sees what the gateway does, a tailer also the text of streams, an "
           "operator may change\n"
           "everything.\n",
       .output = "The token and the line. JSON: {\"token\":...,\"line\":...}.",
       .examples = "sluicectl token new alice --role operator\n"
                   "sluicectl token new grafana --output json > new.json\n"
                   "jq -r .line new.json >> /etc/sluice/roles\n"
                   "jq -r .token new.json > grafana.token",
       .flags = {{"role", "viewer|tailer|operator", "", "viewer", "what NAME may do"}},
       .run = RunTokenNew},
      {.name = "completion",
       .arguments = "bash|zsh|fish",
       .summary = "print a script by which a shell completes command lines of sluicectl",
       .output = "The script.",
       .examples = "source <(sluicectl completion bash)\n"
                   "sluicectl completion bash > /etc/bash_completion.d/sluicectl\n"
                   "sluicectl completion zsh > \"${fpath[1]}/_sluicectl\"\n"
                   "sluicectl completion fish > ~/.config/fish/completions/sluicectl.fish",
       .run = RunCompletion},
      {.name = "version",
       .summary = "print the version of sluicectl",
       .output = "The version. JSON: {\"version\":...}.",
       .examples = "sluicectl version",
       .run = RunVersion},
  };
  auto place = commands.begin() + 4;  // after those about the server as a whole
  for (const std::vector<Command>& group :
       {ExchangeCommands(), ConfigCommands(), DrainCommands(), DoctorCommands()}) {
    place = commands.insert(place, group.begin(), group.end()) + group.size();
  }
  return commands;
}

}  // namespace

absl::Span<const Command> Commands() {
  static const std::vector<Command> commands = AllCommands();
  return commands;
}

ExitCode RunSluicectl(absl::Span<const std::string> args, World& world) {
  const absl::StatusOr<Invocation> invocation =
      ParseCommandLine(args, Commands(), world.environment);
  if (!invocation.ok()) {
    world.err << "sluicectl: " << invocation.status().message() << "\n";
    return ExitCode::kUsage;
  }
  if (invocation->help) {
    world.out << (invocation->command ? HelpText(*invocation->command) : HelpText(Commands()));
    return ExitCode::kOk;
  }
  absl::StatusOr<Connection> connection = Connection();
  if (!invocation->command->rpc.empty()) {
    connection = MakeConnection(*invocation, world.environment);
  }
  if (!connection.ok()) {
    world.err << "sluicectl: " << connection.status().message() << "\n";
    return ExitCode::kUsage;
  }
  ControlClient client(*connection, world.stop);
  CommandContext context{*invocation, client, world};
  return invocation->command->run(context);
}

}  // namespace sluice::admin
