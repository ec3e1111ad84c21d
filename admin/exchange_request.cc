#include "admin/exchange_request.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "admin/call_error.h"
#include "admin/escape.h"
#include "admin/flag_values.h"
#include "lib/base/ids.h"

namespace sluice::admin {

namespace v1 = ::sluice::control::v1;

namespace {

/// The id that ends as `end` does and begins as all ids of this run of the server.
absl::StatusOr<ExchangeId> Complete(ControlClient& client, ExchangeId end) {
  v1::ListExchangesRequest request;
  request.set_page_size(1);
  const auto list = client.ListExchanges(request);
  if (!list.ok()) return list.status();
  const auto any =
      list->exchanges().empty() ? std::nullopt : ParseExchangeId(list->exchanges(0).id());
  if (!any) return absl::NotFoundError("the server has had no exchange yet");
  return ExchangeId{(any->value & 0xffffffff'00000000) | end.value};
}

}  // namespace

v1::ListExchangesRequest ListRequest(const Invocation& invocation) {
  v1::ListExchangesRequest request;
  for (const std::string& model : FlagList(invocation, "model")) request.add_models(model);
  for (const std::string& pool : FlagList(invocation, "pool")) request.add_pools(pool);
  for (const std::string& endpoint : FlagList(invocation, "endpoint")) {
    request.add_endpoints(EndpointName(endpoint));
  }
  for (const std::string& principal : FlagList(invocation, "principal")) {
    request.add_principals(principal);
  }
  return request;
}

std::optional<std::string> ExchangeIdArgument(CommandContext& context, ExitCode* code) {
  const std::string& text = context.invocation.arguments[0];
  if (ParseExchangeId(text)) return text;
  std::ostream& err = context.world.err;
  const auto end = ParseExchangeId(absl::StrCat("x00000000", text));
  if (!end) {
    err << "sluicectl: not the id of an exchange, as in x5f3a09c100000001 or 00000001: "
        << EscapeText(text) << "\n`sluicectl exchange list` shows them.\n";
    *code = ExitCode::kUsage;
    return std::nullopt;
  }
  const absl::StatusOr<ExchangeId> id = Complete(context.client, *end);
  if (id.ok()) return ToString(*id);
  *code = ReportCallError(id.status(), context.server(), err);
  return std::nullopt;
}

}  // namespace sluice::admin
