#ifndef SLUICE_ADMIN_EXCHANGE_TEXT_H_
#define SLUICE_ADMIN_EXCHANGE_TEXT_H_

#include <string>

#include "absl/time/time.h"
#include "absl/types/span.h"

#include "sluice/control/v1/exchange_record.pb.h"

namespace sluice::admin {

// Exchanges as text for people. Nothing in it can steer a terminal.

/// One exchange a line under a head, in the order given. The causes have a column if one has ended.
std::string ExchangeTable(absl::Span<const control::v1::Exchange> exchanges);

/// Everything about one exchange that GetExchange tells, in sections.
std::string ExchangeReport(const control::v1::Exchange& exchange, absl::TimeZone zone);

// Single columns of the table; "-" for what there is not.

/// Its endpoint, "chat/a"; before the first attempt its pool, "chat".
std::string PlaceText(const control::v1::Exchange& exchange);
/// The tokens of the prompt and those generated: "120/57".
std::string TokensText(const control::v1::Exchange& exchange);
std::string TtftText(const control::v1::Exchange& exchange);
/// The time since the last piece.
std::string IdleText(const control::v1::Exchange& exchange);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_EXCHANGE_TEXT_H_
