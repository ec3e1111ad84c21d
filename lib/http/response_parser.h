#ifndef SLUICE_LIB_HTTP_RESPONSE_PARSER_H_
#define SLUICE_LIB_HTTP_RESPONSE_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

#include "lib/exchange/cause.h"
#include "lib/exchange/message.h"
#include "lib/http/chunk_decoder.h"
#include "lib/http/framing.h"
#include "lib/http/head_scanner.h"

namespace sluice::http {

/// Reads one upstream answer, in any pieces, with the same result however they are cut. The body is
/// neither copied nor kept: chunk headers are squeezed out inside the caller's buffer. Strict as
/// HeadScanner, FramingOf and ChunkDecoder are. Nothing is allocated once the head is there.
///
///   for (;;) {
///     switch (parser.Next()) {
///       case kNeedMore:
///         n = read(buffer);
///         n > 0 ? parser.Feed(buffer, n) : parser.FinishOnEof();
///         break;
///       case kHead: head = parser.TakeHead(); break;
///       case kBody: write(parser.body()); break;
///       case kEnd: reuse the connection if parser.keep_alive(), else close it; return;
///       case kError: close it; return parser.failure();
///     }
///   }
///
/// Interim answers (1xx) are skipped, at most 10, and 101 is refused. Answers to HEAD, 204 and 304
/// have no body, whatever their headers say. Trailers are dropped, at most 8 KiB. A head is at most
/// 64 KiB with 200 headers.
class ResponseParser {
 public:
  enum class Result {
    kNeedMore,  // nothing is left of what was fed
    kHead,      // given once; body bytes of the same read follow by Next
    kBody,      // body() holds all the body bytes that were fed, in one run, never empty
    kEnd,       // the answer is complete; from now on always this
    kError,     // failure() says why; from now on always this
  };
  struct Failure {
    Cause cause;         // kUpstreamProtocol, kTruncated, kUpstreamReset
    std::string detail;  // for people; holds none of the peer's bytes
  };

  /// `head_request`: the answer is to a HEAD.
  explicit ResponseParser(bool head_request);

  /// Hands over what one read brought; only when Next said kNeedMore, or with a copy of unread()
  /// before it. The bytes are borrowed, and written to, until Next says kNeedMore, kEnd or kError.
  void Feed(char* data, size_t size);
  Result Next();

  /// The connection ended behind all that was fed; call when Next said kNeedMore. From now on Next
  /// gives what this returns: kEnd for a body that ends with the connection, else kError, which is
  /// kUpstreamReset when no byte of an answer came and kTruncated otherwise.
  Result FinishOnEof();

  ResponseHead TakeHead() { return std::move(head_); }
  /// Points into what was fed. Valid until the next call of Next.
  absl::string_view body() const { return body_; }
  /// The answer is complete. May hold together with its last kBody, or with kHead.
  bool finished() const { return state_ == State::kEnd; }
  const Failure& failure() const { return failure_; }

  /// What was fed and not yet given out. After kHead: a caller that lets go of its buffer copies
  /// these and feeds the copy. When finished: stray bytes behind the answer.
  absl::string_view unread() const { return {next_, static_cast<size_t>(end_ - next_)}; }
  bool any_bytes() const { return any_bytes_; }
  /// The connection may be used again: HTTP/1.1, no `Connection: close`, the end framed and
  /// reached, nothing behind it.
  bool keep_alive() const { return finished() && persistent_ && unread().empty(); }

 private:
  enum class State { kHead, kBody, kEnd, kError };

  Result NextInHead();
  Result FinishHead();
  Result SkipInterim(int status);
  Result NextInBody();
  Result NextInChunks();
  Result Fail(Cause cause, absl::string_view detail);

  const bool head_request_;
  State state_ = State::kHead;
  HeadScanner scanner_;
  int interim_answers_ = 0;
  ResponseHead head_;
  BodyFraming framing_;  // `length`: what is left of it
  ChunkDecoder decoder_;
  bool persistent_ = false;
  bool any_bytes_ = false;
  char* next_ = nullptr;
  char* end_ = nullptr;
  absl::string_view body_;
  Failure failure_{Cause::kInternal, ""};
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_RESPONSE_PARSER_H_
