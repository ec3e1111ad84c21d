#include "admin/commands.h"
#include "admin/flag_values.h"

namespace sluice::admin {
std::vector<Command> ExchangeCommands() {
  return {
      {.name = "exchange list",
       .summary = "list the exchanges that run, or those that have ended",
       .details =
           R"(The latest comes first. Filters take lists, as in --model a,b: an exchange is shown if it has
one of the values of each filter that is given. The server keeps the latest that have ended.
)",
       .rpc = "ObserverService.ListExchanges, once for each 1000 exchanges",
       .output =
           R"(One exchange a line. ENDPOINT is POOL/ENDPOINT, before the first attempt the pool; TOKENS are
those of the prompt and those generated, as far as reported; IDLE is the time since the last
piece of the answer; CAUSE tells why it ended. JSON: an Exchange a line.)",
       .examples =
           "sluicectl exchange list\n"
           "sluicectl exchange list --endpoint chat/a --limit 0\n"
           "sluicectl exchange list --cause upstream_reset,truncated\n"
           "sluicectl exchange list --output json | jq -r 'select(.phase==\"PHASE_HOLD\").id'",
       .flags = {{"finished", "", "", "", "those that have ended, instead of those that run"},
                 {"all", "", "", "", "both"},
                 {"model", "LIST", "", "", "only exchanges for these models"},
                 {"pool", "LIST", "", "", "only exchanges of these pools"},
                 {"endpoint", "LIST", "", "",
                  "only exchanges at these endpoints: chat/a or pools/chat/endpoints/a"},
                 {"principal", "LIST", "", "", "only exchanges of these clients"},
                 {"cause", "LIST", "", "", "only those that ended with these causes", CauseValues},
                 {"limit", "N", "", "100", "at most N; 0 shows all"}},
       .run = RunExchangeList},
      {.name = "exchange get",
       .arguments = "ID",
       .summary = "show all about one exchange",
       .details =
           R"(ID is the whole id, or its last 8 digits as `watch` shows them; for these one more call of
ObserverService.ListExchanges is made.
)",
       .rpc = "ObserverService.GetExchange",
       .output =
           R"(What it is and how far; when it reached each point, once it has ended; a line for each attempt;
how many of the times between its frames were how long. JSON: an Exchange.)",
       .examples = "sluicectl exchange get x5f3a09c100000001\n"
                   "sluicectl exchange get 00000001 --output json | jq .attempts",
       .run = RunExchangeGet},
      {.name = "exchange cancel",
       .arguments = "ID",
       .summary = "end an exchange",
       .details =
           R"(The client of a stream gets an error in its dialect, the upstream connection is closed. Who and
why is in the record and in the audit log. Exit code 4: it has ended already.
ID is the whole id, or its last 8 digits as `watch` shows them; for these one more call of
ObserverService.ListExchanges is made.
)",
       .rpc = "ControlService.CancelExchange",
       .output = "The exchange, and how far it was. JSON: an Exchange.",
       .examples = "sluicectl exchange cancel x5f3a09c100000001 --reason 'runs away'",
       .flags = {{"reason", "TEXT", "", "", "why; at most 256 bytes"}},
       .run = RunExchangeCancel},
      {.name = "exchange tail",
       .arguments = "ID",
       .summary = "show the frames of a running exchange as they pass",
       .details =
           R"(What is shown is text of the client and the model: handle it as such. Each use is recorded in the
audit log. Begins with the next frame and ends with the exchange; never slows it: frames that are
read too slowly are lost, and standard error says how many.
ID is the whole id, or its last 8 digits as `watch` shows them; for these one more call of
ObserverService.ListExchanges is made.
)",
       .rpc = "ObserverService.TailExchange",
       .output =
           R"(The data of each frame and a newline; control bytes in it as \xNN. JSON: a frame a line, its data
in base64.)",
       .examples = "sluicectl exchange tail x5f3a09c100000001\n"
                   "sluicectl exchange tail 00000001 --output json | jq -r '.data | @base64d'",
       .run = RunExchangeTail},
  };
}

}  // namespace sluice::admin
