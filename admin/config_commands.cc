#include "admin/commands.h"

namespace sluice::admin {
namespace {

constexpr Flag kEtag = {"etag", "ETAG", "", "",
                        "change only the version that has this etag, e.g. that of a plan"};

}  // namespace

std::vector<Command> ConfigCommands() {
  return {
      {.name = "config get",
       .summary = "print the configuration in force, or an earlier one",
       .rpc = "ControlService.GetConfig",
       .output =
           "The file that `config apply` takes, with the etag it guards against other changes by.\n"
           "JSON: the same on one line.",
       .examples = "sluicectl config get > config.json\n"
                   "sluicectl config get --generation 12",
       .flags = {{"generation", "N", "", "", "of this generation; see `config versions`"}},
       .run = RunConfigGet},
      {.name = "config validate",
       .arguments = "FILE",
       .summary = "say all that is wrong with a configuration",
       .details =
           R"(Changes nothing. FILE is as for `config apply`. The server judges, and tries to read the keys.
)",
       .rpc = "ControlService.ValidateConfig",
       .output =
           "One violation a line, with its path; `valid` if there is none. Exit code 6 if there is "
           "one.\n"
           "JSON: a ValidateConfigResponse.",
       .examples = "sluicectl config validate config.json",
       .run = RunConfigValidate},
      {.name = "config plan",
       .arguments = "FILE",
       .summary = "show what `config apply` would change",
       .details = "Changes nothing. FILE is as for `config apply`.\n",
       .rpc = "ControlService.PlanConfig",
       .output =
           R"(One change a line: + comes, - goes, ~ gets another value. Then the version in force, with the
etag by which exactly this plan can be applied, and the versions that running exchanges hold.
JSON: a PlanConfigResponse.)",
       .examples = "sluicectl config plan config.json\n"
                   "sluicectl config apply config.json --etag ETAG",
       .run = RunConfigPlan},
      {.name = "config apply",
       .arguments = "FILE",
       .summary = "replace the configuration",
       .details =
           R"(FILE (- for standard input) holds the whole configuration as JSON; what it leaves out is
removed or gets its default. New requests use it at once, running ones keep the one they
started with. If FILE or --etag has an etag, it is applied only when nothing was changed
since that was read; else only the moment of the call is guarded.
)",
       .rpc = "ControlService.UpdateConfig, after ControlService.GetConfig if no etag is given",
       .output = "The new generation and etag. JSON: the new Config.",
       .examples = "sluicectl config get > config.json\n"
                   "$EDITOR config.json\n"
                   "sluicectl config apply config.json",
       .flags = {kEtag},
       .run = RunConfigApply},
      {.name = "config edit",
       .summary = "change the configuration in an editor",
       .details =
           R"(Opens the configuration in force as JSON in $VISUAL, $EDITOR or vi, and applies it when the
editor ends, if it was edited, and if nobody else has changed it meanwhile. When it is not
valid, it can be edited again. What was not applied is kept in a file.
)",
       .rpc = "ControlService.GetConfig, then ControlService.UpdateConfig",
       .output = "The new generation and etag. JSON: the new Config.",
       .examples = "sluicectl config edit",
       .run = RunConfigEdit},
      {.name = "config versions",
       .summary = "list the versions that can be had back",
       .rpc = "ControlService.ListConfigVersions",
       .output =
           R"(One version a line, the one in force first: generation, time, running exchanges that hold it,
who made it and how. JSON: a ListConfigVersionsResponse.)",
       .examples = "sluicectl config versions",
       .run = RunConfigVersions},
      {.name = "config rollback",
       .arguments = "GENERATION",
       .summary = "apply an earlier version again",
       .details = "Makes a new version. It is validated and its keys are read as for any other.\n",
       .rpc = "ControlService.RollbackConfig, after ControlService.GetConfig if no etag is given",
       .output = "The new generation and etag. JSON: the new Config.",
       .examples = "sluicectl config versions\n"
                   "sluicectl config rollback 12",
       .flags = {kEtag},
       .run = RunConfigRollback},
      {.name = "endpoint add",
       .arguments = "POOL ID URI",
       .summary = "add an endpoint to a pool",
       .details = "Whatever the version in force, unless --etag names it.\n",
       .rpc = "ControlService.AddEndpoint",
       .output = "The new generation and etag. JSON: the new Config.",
       .examples = "sluicectl endpoint add chat b http://10.0.0.2:8000",
       .flags = {kEtag},
       .run = RunEndpointAdd},
      {.name = "endpoint remove",
       .arguments = "NAME",
       .summary = "remove an endpoint from its pool",
       .details =
           R"(NAME is POOL/ID or pools/POOL/endpoints/ID. Exchanges that it serves go on. Whatever the
version in force, unless --etag names it.
)",
       .rpc = "ControlService.RemoveEndpoint",
       .output = "The new generation and etag. JSON: the new Config.",
       .examples = "sluicectl endpoint remove chat/b",
       .flags = {kEtag},
       .run = RunEndpointRemove},
  };
}

}  // namespace sluice::admin
