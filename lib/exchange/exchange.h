#ifndef SLUICE_LIB_EXCHANGE_EXCHANGE_H_
#define SLUICE_LIB_EXCHANGE_EXCHANGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "lib/base/clock.h"
#include "lib/base/ids.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/gap_histogram.h"
#include "lib/exchange/published.h"

namespace sluice {

/// Token counts as the provider reported them, never estimated. A count that was not reported
/// beside another is 0; the details are absent unless reported.
struct Usage {
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  int64_t total_tokens = 0;
  std::optional<int64_t> cached_tokens;
  std::optional<int64_t> reasoning_tokens;
  friend bool operator==(const Usage&, const Usage&) = default;
};

/// How far the usage can be trusted. kPartial: reported, but the stream did not end cleanly after
/// it.
enum class Provenance { kAbsent, kPartial, kReported };

/// When an attempt passed each point; absent when it was never reached.
struct UpstreamStamps {
  std::optional<Instant> connected;
  std::optional<Instant> head;
  std::optional<Instant> first_byte;
};

/// When the exchange passed each point; absent when it was never reached.
struct Stamps {
  Instant accepted;
  UpstreamStamps upstream;               // of the last attempt
  std::optional<Instant> first_byte;     // just before the first write to the client
  std::optional<Instant> first_frame;    // TTFT: first valid frame handed to the client
  std::optional<Instant> first_content;  // first frame with text, reasoning or a tool call
  std::optional<Instant> done;
};

/// One try at one endpoint.
struct Attempt {
  int index = 0;         // from 0
  std::string endpoint;  // "pools/chat/endpoints/a"
  std::string key_id;    // names the key, is not the key; empty: none was used
  Instant started;
  std::optional<Instant> ended;
  std::optional<Cause> failure;  // absent while it runs and when it was committed
  int http_status = 0;           // the upstream's; 0: there was no answer
  std::string detail;            // for people: "connection refused"
};

/// What does not change after routing.
struct ExchangeInfo {
  ExchangeId id;
  std::string request_id;
  std::string client_address;
  std::string method;
  std::string path;
  std::string principal;
  std::string model;
  std::string pool;
  std::string dialect;
  bool stream = false;  // the client asked for a stream
  uint64_t config_generation = 0;
  absl::Time started;
};

/// Whose event it is: an exchange and its current attempt. Immutable, shared by all events of the
/// attempt, so that an event copies no strings.
struct Subject {
  std::shared_ptr<const ExchangeInfo> exchange;
  std::string endpoint = "";  // "" before the first attempt
  std::string key_id = "";    // "" when none is used
  int attempt = 0;            // the first is 1; 0 before the first
};

/// How far an exchange is.
enum class Phase {
  kQueue,    // waits for a place in its pool
  kAttempt,  // waits for an endpoint to be reached and to answer
  kHold,     // holds the head until the first valid frame
  kRelay,    // the head was handed to the client
  kFinished,
};

class RunningExchange;

/// The record of one exchange, filled as it goes. Confined to the exchange's fiber until it has
/// finished, but for what is Published and `stamps.accepted`; then it changes no more.
struct Exchange : std::enable_shared_from_this<Exchange> {
  std::shared_ptr<const Subject> subject;  // changes with each attempt; null before OnStarted
  RunningExchange* running = nullptr;      // the registry's, while it runs
  Published<Phase> phase = Phase::kAttempt;
  Published<Instant> last_piece_at;  // when the last piece had been passed; Instant() before any
  Stamps stamps;
  std::vector<Attempt> attempts;            // of two side by side, what decided comes last
  int http_status = 0;                      // as the client got it; 0: none was sent
  Published<uint64_t> bytes_from_upstream;  // of the body, over all attempts
  Published<uint64_t> bytes_to_client;      // of the body
  Published<uint64_t> frames;
  GapHistogram gaps;  // between frames
  // XXH64 (seed 0) of the body that was relayed, as it was read; absent when it was none of an
  // upstream's. Equal to the other one where the bytes passed unchanged.
  std::optional<uint64_t> digest_from_upstream;
  std::optional<uint64_t>
      digest_to_client;                // of bytes_to_client; absent when nothing was committed
  bool valid_frames_only = false;      // `relay: VALID_FRAMES`: what is no valid frame was left out
  uint64_t dropped_bytes = 0;          // of the committed body, left out: so, or by `ask_usage`
  uint64_t dropped_stretches = 0;      // in so many places
  Duration largest_gap{0};             // between two pieces
  bool largest_gap_by_client = false;  // the client did not read; else the upstream was silent
  std::optional<Usage> usage;
  Provenance provenance = Provenance::kAbsent;
  std::string finish_reason;
  // From the cancellation until the upstream's connection was closed; absent when there was none.
  std::optional<Duration> cancel_latency;
  std::optional<Cause> cause;  // set once, by finish
  std::string detail;          // for people, beside the cause

  /// From OnStarted on.
  const ExchangeInfo& info() const { return *subject->exchange; }
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_EXCHANGE_H_
