#include "admin/commands.h"

#include <vector>

namespace sluice::admin {

absl::Span<const Command> Commands() {
  static const std::vector<Command> commands = {
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
           "goes on where it stopped; if events are lost all the same, the stream says so.\n",
       .rpc = "ObserverService.WatchEvents",
       .output = "One event a line: time, exchange, kind, model, pool/endpoint, facts. JSON: an "
                 "Event a line,\n"
                 "or {\"lost\":{\"count\":...,\"reason\":...}} where events are missing.",
       .examples = "sluicectl watch\n"
                   "sluicectl watch --tail 100\n"
                   "sluicectl watch --output json | jq 'select(.exchange_finished)'",
       .flags = {{"tail", "N", "", "0", "begin with the N latest events (up to 1000000)"}},
       .run = RunWatch},
      {.name = "config get",
       .summary = "print the configuration in force",
       .rpc = "ControlService.GetConfig",
       .output =
           "The file that `config apply` takes, with the etag it guards against other changes by.\n"
           "JSON: the same on one line.",
       .examples = "sluicectl config get > config.json",
       .run = RunConfigGet},
      {.name = "config apply",
       .arguments = "FILE",
       .summary = "replace the configuration",
       .details = "FILE (- for standard input) holds the whole configuration as JSON; what it "
                  "leaves out is\n"
                  "removed or gets its default. New requests use it at once, running ones keep the "
                  "one they\n"
                  "started with. If FILE has an etag, it is applied only when nothing was changed "
                  "since it\n"
                  "was read; else only the moment of the call is guarded.\n",
       .rpc = "ControlService.UpdateConfig, after ControlService.GetConfig if FILE has no etag",
       .output = "The new generation and etag. JSON: the new Config.",
       .examples = "sluicectl config get > config.json\n"
                   "$EDITOR config.json\n"
                   "sluicectl config apply config.json",
       .run = RunConfigApply},
      {.name = "version",
       .summary = "print the version of sluicectl",
       .output = "The version. JSON: {\"version\":...}.",
       .examples = "sluicectl version",
       .run = RunVersion},
  };
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
  ControlClient client(invocation->flag("server"));
  CommandContext context{*invocation, client, world};
  return invocation->command->run(context);
}

}  // namespace sluice::admin
