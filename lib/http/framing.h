#ifndef SLUICE_LIB_HTTP_FRAMING_H_
#define SLUICE_LIB_HTTP_FRAMING_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "lib/exchange/message.h"

namespace sluice::http {

/// What the headers of a message say about where its body ends.
struct BodyFraming {
  enum Kind {
    kUnspecified,  // of a request: it has no body; of an answer: the body ends with the connection
    kLength,
    kChunked,
  };
  Kind kind = kUnspecified;
  uint64_t length = 0;  // of kLength
};

/// Whether a request framed so has body bytes to come.
inline bool HasBody(const BodyFraming& framing) {
  return framing.kind == BodyFraming::kChunked || framing.length > 0;
}

/// Reads Content-Length and Transfer-Encoding more narrowly than RFC 9112 section 6 asks for, so
/// that no two parsers on the way can disagree: at most one field of the two, digits only,
/// `chunked` alone in any case, and no transfer coding in HTTP/1.0. Errors: INVALID_ARGUMENT;
/// UNIMPLEMENTED for a single transfer coding other than `chunked`.
absl::StatusOr<BodyFraming> FramingOf(const HeaderList& headers, int minor_version);

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_FRAMING_H_
