#ifndef SLUICE_ADMIN_EXCHANGE_REQUEST_H_
#define SLUICE_ADMIN_EXCHANGE_REQUEST_H_

#include <optional>
#include <string>

#include "admin/commands.h"
#include "admin/exit_code.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// What --model, --pool, --endpoint and --principal select.
control::v1::ListExchangesRequest ListRequest(const Invocation& invocation);

/// The exchange that the first argument names, by its whole id, or by the 8 digits that `watch`
/// shows; for these it asks the server, whose ids all begin alike. If it fails it tells the user
/// why, and sets `code` to what to exit with.
std::optional<std::string> ExchangeIdArgument(CommandContext& context, ExitCode* code);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_EXCHANGE_REQUEST_H_
