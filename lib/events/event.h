#ifndef SLUICE_LIB_EVENTS_EVENT_H_
#define SLUICE_LIB_EVENTS_EVENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/time/time.h"

#include "lib/base/clock.h"
#include "lib/exchange/exchange.h"
#include "lib/exchange/state_changes.h"

namespace sluice::events {

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

struct ConfigChanged {
  uint64_t generation = 0;
  std::string etag;
};

/// What happened. The frequent kinds lie in the event itself, the rare and large ones beside it.
using What = std::variant<ExchangeStarted, AttemptStarted, std::shared_ptr<const AttemptFailed>,
                          FirstByte, FirstFrame, Chunk, std::shared_ptr<const UsageReported>,
                          std::shared_ptr<const Exchange>, std::shared_ptr<const ConfigChanged>,
                          std::shared_ptr<const EndpointStateChanged>,
                          std::shared_ptr<const KeyStateChanged>>;

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
  kEndpointStateChanged,
  kKeyStateChanged,
};
inline constexpr int kKinds = std::variant_size_v<What>;
static_assert(kKinds == static_cast<int>(Kind::kKeyStateChanged) + 1);

/// One record of the event plane. Of fixed size; carries no prompt or completion text.
struct Event {
  uint64_t sequence = 0;  // the hub's; the first event of a boot is 1
  absl::Time time;
  std::shared_ptr<const Subject> subject;  // null when the event belongs to no exchange
  Duration since_start{0};                 // since the exchange was accepted
  What what;

  Kind kind() const { return static_cast<Kind>(what.index()); }
};

/// An event that belongs to no exchange, for the hub: ConfigChanged, EndpointStateChanged,
/// KeyStateChanged.
template <typename Change>
Event EventOfGateway(absl::Time time, Change change) {
  Event event;
  event.time = time;
  event.what = std::make_shared<const Change>(std::move(change));
  return event;
}

}  // namespace sluice::events

#endif  // SLUICE_LIB_EVENTS_EVENT_H_
