#ifndef SLUICE_LIB_HTTP_REQUEST_PARSER_H_
#define SLUICE_LIB_HTTP_REQUEST_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/string_view.h"

#include "lib/exchange/message.h"
#include "lib/http/chunk_decoder.h"
#include "lib/http/framing.h"
#include "lib/http/head_scanner.h"
#include "lib/http/request_rules.h"

namespace sluice::http {

/// Reads one request from a client's bytes, in any pieces, with the same result however they are
/// cut. Refuses whatever two parsers could read differently (RFC 9112 section 11.2), so that no
/// byte of a request that passes can be another request: see HeadScanner, FramingOf, ChunkDecoder
/// and ApplyRequestRules for the rules. Memory grows with the bytes that came, never by a number
/// that a peer wrote.
///
/// Further rulings: no blank line may precede the request line; a request without Content-Length
/// and Transfer-Encoding has no body, whatever its method; a body belongs to any method that frames
/// one; trailers are refused; chunk extensions are ignored up to 256 bytes a chunk; Upgrade is
/// ignored.
///
///   for (;;) {
///     size_t consumed;
///     const auto result = parser.Feed(unread, &consumed);
///     unread.remove_prefix(consumed);
///     if (result == kNeedMore) read more into `unread`;
///     if (result == kHeadDone && parser.wants_continue() && unread.empty()) send 100 Continue;
///     if (result == kRefused) answer parser.refusal() and close;
///     if (result == kDone) handle parser.TakeRequest(); `unread` starts the next request;
///   }
class RequestParser {
 public:
  /// Each value is the most that passes.
  struct Limits {
    size_t max_head_bytes = 32 << 10;    // over it: 431
    size_t max_request_line = 8 << 10;   // without its line end; over it: 414
    size_t max_header_line = 8 << 10;    // without its line end; over it: 431
    size_t max_headers = 100;            // over it: 431
    uint64_t max_body_bytes = 64 << 20;  // over it: 413, at the length or chunk size that says so
  };
  enum class Result {
    kNeedMore,  // all bytes are taken
    kHeadDone,  // given once: the head may go on; call again with the rest, even if it is empty
    kDone,      // the bytes left over belong to the next request
    kRefused,   // from now on always this
  };

  RequestParser() : RequestParser(Limits()) {}
  explicit RequestParser(const Limits& limits);

  /// Sets `*consumed` to how many of `bytes` it took.
  Result Feed(absl::string_view bytes, size_t* consumed);

  bool head_done() const { return state_ == State::kBody || state_ == State::kDone; }
  /// At kHeadDone: the client waits for `100 Continue` before it sends the body it announced.
  bool wants_continue() const { return HasBody(framing_) && ExpectsContinue(request_); }
  /// From kHeadDone on: what the client wants for the connection.
  bool keep_alive() const { return WantsKeepAlive(request_); }

  /// After kDone, once, and the last call. The target is in origin-form, or `*`; `client_address`
  /// is empty.
  Request TakeRequest() { return std::move(request_); }
  /// After kRefused.
  const Refusal& refusal() const { return *refusal_; }

 private:
  enum class State { kHead, kBody, kDone, kRefused };

  Result FeedHead(absl::string_view bytes, size_t* consumed);
  Result FinishHead();
  Result FeedBody(absl::string_view bytes, size_t* consumed);
  Result FeedChunks(absl::string_view bytes, size_t* consumed);
  Result RefuseBodySize();
  Result Refuse(Refusal refusal);
  Result Done();

  Limits limits_;
  State state_ = State::kHead;
  HeadScanner scanner_;
  BodyFraming framing_;
  ChunkDecoder decoder_;
  Request request_;
  std::optional<Refusal> refusal_;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_REQUEST_PARSER_H_
