#include "absl/strings/str_cat.h"

#include "admin/call_error.h"
#include "admin/config_io.h"
#include "admin/escape.h"
#include "admin/json.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

std::string ChangeLine(const v1::ConfigChange& change) {
  const std::string path = EscapeText(change.path());
  const std::string before = EscapeText(change.before());
  const std::string after = EscapeText(change.after());
  switch (change.kind()) {
    case v1::ConfigChange::KIND_ADDED:
      return absl::StrCat("+ ", path, ": ", after, "\n");
    case v1::ConfigChange::KIND_REMOVED:
      return absl::StrCat("- ", path, ": ", before, "\n");
    default:
      return absl::StrCat("~ ", path, ": ", before, " -> ", after, "\n");
  }
}

std::string PlanText(const v1::PlanConfigResponse& plan) {
  std::string text;
  for (const v1::ConfigChange& change : plan.changes()) absl::StrAppend(&text, ChangeLine(change));
  if (plan.changes().empty()) text = "no changes\n";
  absl::StrAppend(&text, "in force: generation ", plan.generation(), ", etag ",
                  EscapeName(plan.etag()), "\n");
  for (const v1::ConfigHolders& holders : plan.holders()) {
    absl::StrAppend(&text, "generation ", holders.generation(), " is held by ", holders.exchanges(),
                    holders.exchanges() == 1 ? " running exchange\n" : " running exchanges\n");
  }
  return text;
}

}  // namespace

ExitCode RunConfigPlan(CommandContext& context) {
  ExitCode failed = ExitCode::kOk;
  auto config = ReadConfig(context, context.invocation.arguments[0], &failed);
  if (!config) return failed;
  const auto plan = context.client.PlanConfig(UpdateOfAll(*std::move(config)));
  if (!plan.ok()) return ReportCallError(plan.status(), context.server(), context.world.err);
  context.world.out << (context.json() ? ToJson(*plan) + "\n" : PlanText(*plan));
  return ExitCode::kOk;
}

}  // namespace sluice::admin
