#ifndef SLUICE_LIB_HTTP_HEAD_WRITER_H_
#define SLUICE_LIB_HTTP_HEAD_WRITER_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "lib/exchange/message.h"

/// Writes heads as HTTP/1.1 (RFC 9112), with their blank line, behind what `*out` holds. End-to-end
/// headers go out in their order, as they are. Host, Connection and framing are written here alone:
/// `headers` with one of them, or any head that a peer could read as something else than it says,
/// is not written: INTERNAL, `*out` is as before, and the message names the header (its value
/// never). Parsers and configuration refuse such heads at the door, so that one here is our fault.
namespace sluice::http {

/// `head.minor_version` is the upstream's and is not written. `head` may hold Content-Length unless
/// `chunked`.
absl::Status AppendResponseHead(const ResponseHead& head, bool chunked, bool keep_alive,
                                std::string* out);

/// Announces `body_bytes` by Content-Length, but for a method that has no body and sends none.
absl::Status AppendRequestHead(absl::string_view method, absl::string_view target,
                               absl::string_view host, const HeaderList& headers, size_t body_bytes,
                               std::string* out);

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_HEAD_WRITER_H_
