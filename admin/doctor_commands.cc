#include "admin/commands.h"

namespace sluice::admin {

std::vector<Command> DoctorCommands() {
  return {
      // Before `doctor`, which it begins with.
      {.name = "doctor leaks",
       .summary = "see whether the server keeps what it should have given back",
       .details =
           R"(Reads three times what the server counts twice, in its books and otherwise: before, during and
after. Without --ask that is --interval apart. A busy server is read while it changes: only what
differs each time, in the same direction, is a leak.
)",
       .rpc = "ObserverService.CheckLeaks, three times",
       .output =
           R"(One thing a line: at each time, what was booked, what was counted, and the difference; a
verdict. JSON: three CheckLeaksResponse, one a line. Exit code 1: something leaks.)",
       .examples = "sluicectl doctor leaks\n"
                   "sluicectl doctor leaks --ask    # and run a load in another terminal meanwhile",
       .flags = {{"interval", "TIME", "", "2s", "how long to wait between two readings"},
                 {"ask", "", "", "", "wait for Enter instead, to start and end a load"}},
       .run = RunDoctorLeaks},
      {.name = "doctor",
       .summary = "look for what is wrong with the server, and say what to do",
       .details =
           R"(Looks at the connection, versions, the buffer of events, watchers, the configuration and how full
it is, pools, routes, drained and failing endpoints. Changes nothing. `doctor leaks` looks for
leaks.
)",
       .rpc = "ObserverService.GetServerStatus, ControlService.GetConfig, "
              "ObserverService.ListEndpoints",
       .output =
           R"(One check a line, OK or WARN, and below a WARN what to do. JSON: {"check":...,"ok":...,
"finding":...,"next":...} a line. Exit code 1: there is a WARN.)",
       .examples = "sluicectl doctor\n"
                   "sluicectl doctor --output json | jq 'select(.ok | not)'",
       .run = RunDoctor},
  };
}

}  // namespace sluice::admin
