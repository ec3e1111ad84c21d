#ifndef SLUICE_LIB_RELAY_HEADERS_H_
#define SLUICE_LIB_RELAY_HEADERS_H_

#include "absl/strings/string_view.h"

#include "lib/config/config.h"
#include "lib/exchange/message.h"
#include "lib/exchange/seams.h"

namespace sluice::relay {

/// The client's `X-Request-Id` if there is exactly one and it is sane, else `fallback`.
std::string ChooseRequestId(const HeaderList& client, absl::string_view fallback);

/// The request that every endpoint tried gets: end-to-end headers in the client's order, one
/// `X-Request-Id`, a trace context, no encodings; none of the client's credentials unless
/// `credentials` says so. The body is borrowed from `request`.
OutboundRequest PrepareOutbound(const Request& request, absl::string_view request_id,
                                config::Credentials credentials);

/// Makes an upstream's head the client's: end-to-end headers and Content-Length as they came, and
/// ours as the only `X-Request-Id`.
void PrepareAnswerHead(absl::string_view request_id, ResponseHead& head);

/// Whether `value` is a W3C `traceparent` that may be continued (Trace Context, section 3.2.2).
bool IsValidTraceparent(absl::string_view value);

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_HEADERS_H_
