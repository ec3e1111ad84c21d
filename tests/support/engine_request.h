#ifndef SLUICE_TESTS_SUPPORT_ENGINE_REQUEST_H_
#define SLUICE_TESTS_SUPPORT_ENGINE_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"

namespace sluice::testing {

/// One request as an engine got it, for assertions.
struct EngineRequest {
  uint64_t connection = 0;  // 1, 2, ... in the order of accept
  Instant at;               // when its last byte had been read
  std::string head;         // request line and headers verbatim, with the empty line
  std::string body;         // as sent, but without chunk framing

  std::string method() const;
  std::string target() const;  // raw, with the query
  std::string path() const;    // `target` up to the query
  /// The values of every field `name` (case ignored) in wire order, outer blanks stripped.
  std::vector<std::string> HeaderValues(absl::string_view name) const;
  /// The first text after a `"model"` member in the body, found by a scan, not by a JSON parser; ""
  /// if none.
  std::string model() const;
  /// Whether the body has `"stream": true`, found the same way.
  bool stream() const;
};

/// Cuts what a connection receives into requests. Lenient: it takes bare LF, and of broken framing
/// it makes what it can, so that a test sees what was really sent. Confined to one thread.
class RequestReader {
 public:
  void Feed(absl::string_view bytes) { buffer_.append(bytes.data(), bytes.size()); }
  /// The next whole request, with `head` and `body` filled; nothing until it is whole. Call after
  /// each Feed until it gives nothing.
  std::optional<EngineRequest> Next();

 private:
  bool TakeHead();
  bool TakeBody();
  bool TakeChunks();

  std::string buffer_;                    // received and not yet part of a request
  size_t scanned_ = 0;                    // of buffer_, known to hold no end of a head
  std::optional<EngineRequest> request_;  // its head is complete
  bool chunked_ = false;
  uint64_t body_left_ = 0;  // of the length, or of the current chunk
  enum class Chunk { kSize, kData, kDataEnd, kTrailer } chunk_ = Chunk::kSize;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_ENGINE_REQUEST_H_
