#ifndef SLUICE_TESTS_SUPPORT_RAW_CLIENT_H_
#define SLUICE_TESTS_SUPPORT_RAW_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "tests/support/patience.h"

namespace sluice::testing {

/// One answer as it came over the wire.
struct RawResponse {
  enum class End {
    kComplete,    // its framing says so; for a body without length or chunks: a FIN
    kTruncated,   // a FIN before that
    kReset,       // an RST before that
    kBadFraming,  // bytes that are no chunk
  };

  int status = 0;
  std::string head;                 // status line and headers verbatim, with the empty line
  std::string body;                 // without chunk framing; what came of it if not kComplete
  std::vector<std::string> chunks;  // payloads one by one; empty unless chunked
  std::string trailers;             // verbatim lines after the last chunk, without the empty line
  End end = End::kComplete;

  bool complete() const { return end == End::kComplete; }
  /// The values of every field `name` (case ignored) in wire order, outer blanks stripped.
  std::vector<std::string> HeaderValues(absl::string_view name) const;
};

/// A blocking HTTP/1.1 client on a raw socket: it sends what it is told, and shows what came to the
/// byte. Confined to one thread, but for the destructor of a moved-from one. Reads fail with
/// DEADLINE_EXCEEDED after `patience`, with OUT_OF_RANGE after the peer's FIN and with ABORTED
/// after its RST.
class RawClient {
 public:
  struct Options {
    int receive_buffer_bytes = 0;  // of the kernel, for a slow reader; 0: the system's default
  };

  /// Connects to 127.0.0.1:`port`. UNAVAILABLE: refused.
  static absl::StatusOr<RawClient> Connect(uint16_t port, Options options);
  static absl::StatusOr<RawClient> Connect(uint16_t port) { return Connect(port, Options{}); }
  RawClient(RawClient&& other) noexcept;
  RawClient& operator=(RawClient&& other) noexcept;
  ~RawClient();

  /// ABORTED: the peer has gone.
  absl::Status Send(absl::string_view bytes);

  /// One answer from its first byte to its end. `to_head` says that the request was a HEAD. An
  /// error is returned only if not even a head came; later trouble is in `end`. A second call reads
  /// the next answer, also the one after an interim (1xx) answer.
  absl::StatusOr<RawResponse> ReadResponse(bool to_head = false, Duration patience = kPatience);

  // Or step by step, to look at a stream while it runs:

  /// The head, verbatim with its empty line.
  absl::StatusOr<std::string> ReadHead(Duration patience = kPatience);
  /// The payload of the next chunk; empty for the last one, whose trailers go to `trailers` if
  /// given. INVALID_ARGUMENT: these bytes are no chunk.
  absl::StatusOr<std::string> ReadChunk(std::string* trailers = nullptr,
                                        Duration patience = kPatience);
  /// Exactly `count` bytes.
  absl::StatusOr<std::string> ReadBytes(size_t count, Duration patience = kPatience);
  /// Reads more until `ready` holds for what was received and not yet taken; takes nothing.
  absl::Status ReadUntil(const std::function<bool(absl::string_view unread)>& ready,
                         Duration patience = kPatience);
  /// What was received and not yet taken by a Read call above.
  const std::string& unread() const { return unread_; }

  /// Reads to the end of the connection: OK after a FIN, ABORTED after an RST.
  absl::Status ReadToEnd(Duration patience = kPatience);

  /// Ends the sending side only (FIN).
  void HalfClose();
  /// Closes with an RST.
  void Reset();
  /// Closes in order; an RST all the same if bytes were left unread in the kernel.
  void Close();

 private:
  explicit RawClient(int fd) : fd_(fd) {}
  /// Receives something. The errors are those of reads.
  absl::Status ReadSome(Instant deadline);
  absl::StatusOr<std::string> ReadLine(Instant deadline);

  int fd_ = -1;
  std::string unread_;
};

/// `POST` of `body` to `target` with Host, Content-Length, a JSON content type and `extra_headers`
/// (whole lines with their CRLF).
std::string PostRequest(absl::string_view target, absl::string_view body,
                        absl::string_view extra_headers = "");
/// A chat completion: model "m1", one message, streamed or not.
std::string ChatRequest(bool stream = true, absl::string_view extra_headers = "");
std::string GetRequest(absl::string_view target, absl::string_view extra_headers = "");

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_RAW_CLIENT_H_
