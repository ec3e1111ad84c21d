#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/exchange_request.h"
#include "admin/exchange_text.h"
#include "admin/json.h"
#include "admin/wording.h"

namespace sluice::admin {

ExitCode RunExchangeCancel(CommandContext& context) {
  ExitCode failed = ExitCode::kOk;
  const auto id = ExchangeIdArgument(context, &failed);
  if (!id) return failed;
  control::v1::CancelExchangeRequest request;
  request.set_id(*id);
  request.set_reason(std::string(context.invocation.flag("reason")));
  const auto exchange = context.client.CancelExchange(request);
  if (!exchange.ok()) {
    return ReportCallError(exchange.status(), context.server(), context.world.err);
  }
  if (context.json()) {
    context.world.out << ToJson(*exchange) << "\n";
  } else {
    context.world.out << "cancelled: " << EscapeName(exchange->id()) << ", "
                      << EscapeName(exchange->model()) << " at " << PlaceText(*exchange)
                      << ", after " << DurationText(ToDuration(exchange->age())) << " and "
                      << exchange->frames() << " frames\n";
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
