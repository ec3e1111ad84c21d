#ifndef SLUICE_LIB_EVENTS_EVENT_H_
#define SLUICE_LIB_EVENTS_EVENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/time/time.h"

#include "lib/base/clock.h"
#include "lib/exchange/exchange.h"

namespace sluice::events {

/// Whose event it is: an exchange and its current attempt. Immutable, shared by all events of the
/// attempt, so that an event copies no strings.
struct Subject {
  std::shared_ptr<const ExchangeInfo> exchange;
  std::string endpoint = "";  // "" before the first attempt
  std::string key_id = "";
  int attempt = 0;  // the first is 1; 0 before the first
};

struct ExchangeStarted {};
struct AttemptStarted {};

struct AttemptFailed {
  Cause cause = Cause::kInternal;
  int http_status = 0;
  std::string detail = "";
};

/// The commit.
struct FirstByte {
  int http_status = 0;
};

/// The first valid frame handed to the client: the event's `since_start` is the TTFT.
struct FirstFrame {
  uint64_t index = 0;
};

struct Chunk {
  uint64_t index = 0;  // from 0
  uint64_t size_bytes = 0;
  Duration gap{0};  // since the frame before; for the first, since the exchange was accepted
};

struct UsageReported {
  Usage usage;
};

/// What Exchange says at its end.
struct ExchangeFinished {
  Cause cause = Cause::kInternal;
  std::string detail = "";
  int http_status = 0;
  int attempts = 0;
  Stamps stamps{};
  uint64_t bytes_from_upstream = 0;
  uint64_t bytes_to_client = 0;
  uint64_t frames = 0;
  std::optional<Usage> usage{};
  Provenance provenance = Provenance::kAbsent;
  std::string finish_reason = "";
  Duration largest_gap{0};
  bool largest_gap_by_client = false;
  std::optional<uint64_t> digest_from_upstream{};
  std::optional<uint64_t> digest_to_client{};
  bool valid_frames_only = false;
  uint64_t dropped_bytes = 0;
  uint64_t dropped_stretches = 0;
  std::optional<Duration> cancel_latency{};
  std::string key_id = "";  // of the last attempt
};

struct ConfigChanged {
  uint64_t generation = 0;
  std::string etag;
};

/// What happened. The frequent kinds lie in the event itself, the rare and large ones beside it.
using What =
    std::variant<ExchangeStarted, AttemptStarted, std::shared_ptr<const AttemptFailed>, FirstByte,
                 FirstFrame, Chunk, std::shared_ptr<const UsageReported>,
                 std::shared_ptr<const ExchangeFinished>, std::shared_ptr<const ConfigChanged>>;

/// Names the alternatives of What, in the same order. The proto enum EventKind is its twin.
enum class Kind {
  kExchangeStarted,
  kAttemptStarted,
  kAttemptFailed,
  kFirstByte,
  kFirstFrame,
  kChunk,
  kUsage,
  kExchangeFinished,
  kConfigChanged,
};
inline constexpr int kKinds = std::variant_size_v<What>;
static_assert(kKinds == static_cast<int>(Kind::kConfigChanged) + 1);

/// One record of the event plane. Of fixed size; carries no prompt or completion text.
struct Event {
  uint64_t sequence = 0;  // the hub's; the first event of a boot is 1
  absl::Time time;
  std::shared_ptr<const Subject> subject;  // null when the event belongs to no exchange
  Duration since_start{0};                 // since the exchange was accepted
  What what;

  Kind kind() const { return static_cast<Kind>(what.index()); }
};

}  // namespace sluice::events

#endif  // SLUICE_LIB_EVENTS_EVENT_H_
