#ifndef SLUICE_LIB_HTTP_REQUEST_RULES_H_
#define SLUICE_LIB_HTTP_REQUEST_RULES_H_

#include <optional>
#include <string>

#include "lib/exchange/cause.h"
#include "lib/exchange/message.h"

namespace sluice::http {

/// Why a request gets no further. The connection closes behind the answer, whose status is the
/// cause's.
struct Refusal {
  Cause cause;
  std::string message;  // names the field at fault, and the limit if it is one; holds none of the
                        // peer's bytes
};

/// `bad_request`.
Refusal BadRequest(std::string message);

/// The rules about a well-formed head that framing is no part of:
/// - Host (RFC 9112 section 3.2): exactly one in HTTP/1.1, at most one in HTTP/1.0, and an
/// authority as
///   IsAuthority knows it.
/// - Target (section 3.2.1): origin-form; `*` for OPTIONS alone; absolute-form with the scheme http
/// alone, which is
///   rewritten to origin-form while Host takes the target's authority, as section 3.2.2 asks. No
///   fragment. No authority-form, hence no CONNECT.
/// - Expect: `100-continue` alone, in any case (RFC 9110 section 10.1.1). HTTP/1.0 has
/// none: ignored. Returns nothing when the request may go on.
std::optional<Refusal> ApplyRequestRules(Request* request);

/// Whether the client waits for `100 Continue` before it sends the body.
bool ExpectsContinue(const Request& request);

/// Whether the client wants the connection to stay open behind the answer (RFC 9112 section 9.3).
bool WantsKeepAlive(const Request& request);

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_REQUEST_RULES_H_
