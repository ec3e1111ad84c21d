#ifndef SLUICE_TESTS_SUPPORT_ENGINE_SCRIPT_H_
#define SLUICE_TESTS_SUPPORT_ENGINE_SCRIPT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"

namespace sluice::testing {

/// The steps a Script is made of; what each does is said at the Script call that adds it.
struct SendStep {
  std::string bytes;
  bool is_piece = false;  // a part of the body: counted in "3 of 12 pieces"
};
struct PauseStep {
  Duration length;
};
struct GateStep {
  std::string name;  // "": never opens
};
struct CloseStep {
  bool reset = false;
};
struct LoopStep {
  size_t length = 0;   // how many steps before this one are run again
  uint64_t times = 0;  // in all; kForever
};
using ScriptStep = std::variant<SendStep, PauseStep, GateStep, CloseStep, LoopStep>;

inline constexpr uint64_t kForever = UINT64_MAX;

/// How a ScriptedEngine answers one request: steps run in order. When they are all done the
/// connection waits for its next request, unless the script closed it. Nothing is added to what is
/// sent, and nothing is checked: a script can break HTTP as it likes.
///
/// A value; copies share their steps, so an answer of any size is cheap to give to thousands of
/// requests. Thread-compatible.
class Script {
 public:
  Script() : steps_(std::make_shared<std::vector<ScriptStep>>()) {}

  /// Sends bytes as they are, in a write of their own: a head, stray bytes after the end.
  Script& Raw(absl::string_view bytes);
  /// `HTTP/1.1 200 OK`, `text/event-stream`, chunked; `extra` is whole header lines with their
  /// CRLF.
  Script& SseHead(absl::string_view extra = "");
  /// A whole answer with `Content-Length`, head and body in one write. `status` as in "503 Busy".
  Script& Json(absl::string_view body, absl::string_view status = "200 OK",
               absl::string_view extra = "");

  /// One piece of the body as it is (after a head with a length, or delimited by Fin).
  Script& Piece(absl::string_view bytes);
  /// One piece of the body as one chunk. `payload` is not empty: that would be the last chunk.
  Script& Chunk(absl::string_view payload);
  /// Each of `payloads` as Chunk, `pause` between two of them.
  Script& Chunks(const std::vector<std::string>& payloads, Duration pause = Duration::zero());
  /// The last chunk; `trailers` is whole header lines with their CRLF.
  Script& LastChunk(absl::string_view trailers = "");
  /// The start of a chunk that says it has `declared_size` bytes but holds only `payload`.
  Script& HalfChunk(absl::string_view payload, size_t declared_size);

  Script& Pause(Duration length);
  /// Waits until the test opens the gate of this name (ScriptedEngine::OpenGate).
  Script& Gate(absl::string_view name);
  /// Stays open and silent for ever.
  Script& Hold();
  /// Runs `body` `times` times, or until the peer leaves (kForever).
  Script& Repeat(uint64_t times, const Script& body);

  /// Closes the connection in order (FIN).
  Script& Fin();
  /// Closes it with an RST; what was sent and is still on its way may be lost.
  Script& Reset();

  const std::vector<ScriptStep>& steps() const { return *steps_; }
  /// How many pieces the whole answer has; nothing if it never ends.
  std::optional<uint64_t> piece_count() const;

 private:
  Script& Add(ScriptStep step);

  std::shared_ptr<std::vector<ScriptStep>> steps_;  // copied before a change if shared
};

/// Cuts a recorded stream after each blank line (LF or CRLF ends): one SSE event or comment block a
/// piece, every byte kept. What follows the last blank line is the last piece.
std::vector<std::string> SplitEvents(absl::string_view stream);
/// Cuts into pieces of `piece_bytes` (over 0), the last one shorter.
std::vector<std::string> SplitBytes(absl::string_view stream, size_t piece_bytes);

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_ENGINE_SCRIPT_H_
