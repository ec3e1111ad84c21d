#ifndef SLUICE_TESTS_SUPPORT_FAKE_TRANSPORT_H_
#define SLUICE_TESTS_SUPPORT_FAKE_TRANSPORT_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/exchange/cancellation.h"
#include "lib/exchange/message.h"
#include "lib/exchange/seams.h"
#include "tests/support/fake_clock.h"

namespace sluice::testing {

/// What an upstream does in one attempt, step by step. Time passes only in Silence.
///   Script().Head(200, "text/event-stream").Piece("data: 1\n\n").Silence(seconds(5)).End()
class Script {
 public:
  /// As the only or last step: no connection is made.
  Script& Refuse(Cause failure = Cause::kConnectFailed);
  Script& Head(int status, absl::string_view content_type, HeaderList more = {});
  Script& Piece(absl::string_view bytes);
  /// `bytes` in pieces of at most `read_size`.
  Script& Body(absl::string_view bytes, size_t read_size);
  /// Nothing comes for so long, also across several waits; without a length, for ever.
  Script& Silence(std::optional<Duration> length = std::nullopt);
  /// The exchange is cancelled at this point.
  Script& Cancel(Cause cause, absl::string_view detail = "");
  Script& Fail(Cause failure, absl::string_view detail = "");  // kUpstreamReset, kTruncated, ...
  Script& End();
  /// As End, known when the piece before it is read.
  Script& EndWithLastPiece();

 private:
  friend class FakeTransport;
  friend class ScriptedStream;
  struct Step {
    enum Kind { kRefuse, kHead, kPiece, kSilence, kCancel, kFail, kEnd } kind;
    ResponseHead head = {};
    std::string bytes = {};
    std::optional<Duration> length = {};
    Cause cause = Cause::kInternal;
    bool announced = false;
  };
  std::deque<Step> steps_;
};

/// Plays one script per attempt, in order. Every wait ends at once, at a deadline by moving the
/// clock.
class FakeTransport final : public Transport {
 public:
  struct Sent {
    UpstreamAddress address;
    OutboundRequest request;  // its body is in `body`
    std::string body;
    bool closed = false;       // the stream was destroyed
    bool read_to_end = false;  // and could be used again
    Instant closed_at;
  };

  FakeTransport(FakeClock& clock, Cancellation& cancellation)
      : clock_(clock), cancellation_(cancellation) {}

  void Play(Script script) { scripts_.push_back(std::move(script)); }
  OpenResult Open(const UpstreamAddress& address, const OutboundRequest& request,
                  Instant deadline) override;

  const std::vector<std::shared_ptr<Sent>>& sent() const { return sent_; }

 private:
  FakeClock& clock_;
  Cancellation& cancellation_;
  std::deque<Script> scripts_;
  std::vector<std::shared_ptr<Sent>> sent_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_FAKE_TRANSPORT_H_
