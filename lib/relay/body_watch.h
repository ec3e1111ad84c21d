#ifndef SLUICE_LIB_RELAY_BODY_WATCH_H_
#define SLUICE_LIB_RELAY_BODY_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/dialect/dialect.h"
#include "lib/exchange/exchange.h"
#include "lib/exchange/message.h"
#include "lib/exchange/observer.h"
#include "lib/relay/pass_rules.h"
#include "lib/sse/splitter.h"

namespace sluice::relay {

enum class BodyKind {
  kOpaque,       // relayed, not observed: an error, an encoded body, any other type
  kJson,         // one JSON text: usage is read at its end
  kEventStream,  // frames are observed as they pass
};
BodyKind KindOfBody(const ResponseHead& head);

/// A JSON body is copied for its usage up to this size; a larger one passes unread.
inline constexpr size_t kMaxJsonCopy = size_t{4} << 20;

/// Sees the body of a committed answer, each byte after it was written, and tells the observers
/// what it means: of the frames, of those that passed; and of the usage, from the chunk that was
/// hidden too. Confined to the exchange's fiber.
class BodyWatch {
 public:
  /// `record` and `observer` must outlive it.
  BodyWatch(BodyKind kind, dialect::Dialect dialect, PassRules rules, Exchange& record,
            Observer& observer);

  /// `piece` was written at `at`.
  void See(absl::string_view piece, Instant at);

  /// The body ended, its framing complete. Returns what that makes the exchange: kCompleted,
  /// kTruncated or kUpstreamErrorFrame.
  Cause SeeEnd(Instant at);

  bool is_event_stream() const { return events_.has_value(); }
  /// Whether an end marker or an error of the upstream has come: nothing more needs to.
  bool closed() const { return ended_ || errored_; }
  bool errored() const { return errored_; }
  /// What it said; null: nothing has.
  const dialect::UpstreamError* error() const {
    return events_.has_value() ? events_->reader.error() : json_error_.get();
  }
  /// Whether it also passed: nothing is to be added after it.
  bool told() const { return told_; }
  /// Whether an event has begun that the client's parser would join to what follows.
  bool inside_event() const { return events_->splitter.inside_event(); }
  /// When the last frame had passed.
  const std::optional<Instant>& last_frame_at() const { return last_frame_at_; }

 private:
  struct EventStream {
    explicit EventStream(dialect::Dialect dialect) : reader(dialect) {}
    sse::Splitter splitter;
    dialect::StreamReader reader;
  };

  void OnFrame(const sse::Frame& frame, Instant at);
  void TellFrame(const sse::Frame& frame, const dialect::FrameView& view, Instant at);
  Cause EndOfJson();

  const dialect::Dialect dialect_;
  const PassRules rules_;
  Exchange& record_;
  Observer& observer_;
  std::optional<EventStream> events_;
  std::unique_ptr<std::string> json_;  // the copy, as long as it may be read
  std::unique_ptr<dialect::UpstreamError> json_error_;
  std::optional<Instant> last_frame_at_;
  bool ended_ = false;
  bool errored_ = false;
  bool told_ = false;
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_BODY_WATCH_H_
