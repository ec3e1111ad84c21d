#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/exchange_request.h"
#include "admin/exchange_text.h"
#include "admin/json.h"

namespace sluice::admin {

ExitCode RunExchangeGet(CommandContext& context) {
  ExitCode failed = ExitCode::kOk;
  const auto id = ExchangeIdArgument(context, &failed);
  if (!id) return failed;
  control::v1::GetExchangeRequest request;
  request.set_id(*id);
  const auto exchange = context.client.GetExchange(request);
  if (!exchange.ok()) {
    return ReportCallError(exchange.status(), context.server(), context.world.err);
  }
  context.world.out << (context.json() ? ToJson(*exchange) + "\n"
                                       : ExchangeReport(*exchange, context.world.zone));
  return ExitCode::kOk;
}

}  // namespace sluice::admin
