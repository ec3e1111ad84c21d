#include "tests/support/fake_transport.h"

#include <algorithm>
#include <utility>

#include "gtest/gtest.h"

namespace sluice::testing {

Script& Script::Refuse(Cause failure) {
  steps_.push_back({.kind = Step::kRefuse, .bytes = "10.0.0.1:80 refused", .cause = failure});
  return *this;
}

Script& Script::Head(int status, absl::string_view content_type, HeaderList more) {
  Step step{.kind = Step::kHead};
  step.head.status = status;
  step.head.reason = std::string(ReasonPhrase(status));
  step.head.headers = std::move(more);
  if (!content_type.empty()) step.head.headers.Add("Content-Type", content_type);
  steps_.push_back(std::move(step));
  return *this;
}

Script& Script::Piece(absl::string_view bytes) {
  steps_.push_back({.kind = Step::kPiece, .bytes = std::string(bytes)});
  return *this;
}

Script& Script::Body(absl::string_view bytes, size_t read_size) {
  for (size_t at = 0; at < bytes.size(); at += read_size) Piece(bytes.substr(at, read_size));
  return *this;
}

Script& Script::Silence(std::optional<Duration> length) {
  steps_.push_back({.kind = Step::kSilence, .length = length});
  return *this;
}

Script& Script::Cancel(Cause cause, absl::string_view detail) {
  steps_.push_back({.kind = Step::kCancel, .bytes = std::string(detail), .cause = cause});
  return *this;
}

Script& Script::Fail(Cause failure, absl::string_view detail) {
  steps_.push_back({.kind = Step::kFail, .bytes = std::string(detail), .cause = failure});
  return *this;
}

Script& Script::End() {
  steps_.push_back({.kind = Step::kEnd});
  return *this;
}

Script& Script::EndWithLastPiece() {
  steps_.push_back({.kind = Step::kEnd, .announced = true});
  return *this;
}

class ScriptedStream final : public UpstreamStream {
 public:
  ScriptedStream(FakeClock& clock, Cancellation& cancellation, Script script,
                 std::shared_ptr<FakeTransport::Sent> sent)
      : clock_(clock),
        cancellation_(cancellation),
        steps_(std::move(script.steps_)),
        sent_(std::move(sent)),
        connected_at_(clock.Now()) {}

  ~ScriptedStream() override {
    sent_->closed = true;
    sent_->closed_at = clock_.Now();
  }

  WaitResult ReadHead(Instant deadline, ResponseHead* head) override {
    WaitResult wait = WaitFor(deadline);
    if (wait.kind != WaitResult::kOk) return wait;
    EXPECT_EQ(steps_.front().kind, Script::Step::kHead) << "the head is waited for out of turn";
    *head = steps_.front().head;
    steps_.pop_front();
    return wait;
  }

  WaitResult ReadBody(Instant deadline, absl::string_view* piece, bool* last) override {
    current_.assign(current_.size(), '?');  // the last piece is no longer valid
    WaitResult wait = WaitFor(deadline);
    if (wait.kind != WaitResult::kOk) return wait;
    EXPECT_EQ(steps_.front().kind, Script::Step::kPiece) << "a body is waited for out of turn";
    current_ = std::move(steps_.front().bytes);
    steps_.pop_front();
    *piece = current_;
    *last =
        !steps_.empty() && steps_.front().kind == Script::Step::kEnd && steps_.front().announced;
    return wait;
  }

  Instant connected_at() const override { return connected_at_; }

  /// kOk: the next step is a head or a piece.
  WaitResult WaitFor(Instant deadline) {
    while (true) {
      if (cancellation_.cause().has_value()) return {WaitResult::kCancelled, Cause::kInternal, ""};
      if (steps_.empty()) {
        ADD_FAILURE() << "waited past the end of the script";
        return {WaitResult::kFailed, Cause::kInternal, "script"};
      }
      Script::Step& step = steps_.front();
      switch (step.kind) {
        case Script::Step::kSilence:
          if (!Pass(step, deadline)) return {WaitResult::kDeadline, Cause::kInternal, ""};
          break;
        case Script::Step::kCancel:
          cancellation_.Cancel(step.cause, clock_.Now(), step.bytes);
          steps_.pop_front();
          break;
        case Script::Step::kRefuse:
        case Script::Step::kFail:
          return {WaitResult::kFailed, step.cause, step.bytes};
        case Script::Step::kEnd:
          sent_->read_to_end = true;
          return {WaitResult::kEnd, Cause::kInternal, ""};
        case Script::Step::kHead:
        case Script::Step::kPiece:
          return {};
      }
    }
  }

 private:
  /// Lets the silence pass; false when the deadline comes first.
  bool Pass(Script::Step& silence, Instant deadline) {
    const Instant over = silence.length ? clock_.Now() + *silence.length : kNever;
    if (over < deadline) {
      clock_.AdvanceTo(over);
      steps_.pop_front();
      return true;
    }
    EXPECT_NE(deadline, kNever) << "a wait without any limit";
    if (silence.length) *silence.length -= std::max(Duration(0), deadline - clock_.Now());
    clock_.AdvanceTo(deadline);
    return false;
  }

  FakeClock& clock_;
  Cancellation& cancellation_;
  std::deque<Script::Step> steps_;
  std::shared_ptr<FakeTransport::Sent> sent_;
  const Instant connected_at_;
  std::string current_;
};

OpenResult FakeTransport::Open(const UpstreamAddress& address, const OutboundRequest& request,
                               Instant deadline) {
  auto sent = std::make_shared<Sent>();
  sent->address = address;
  sent->request = request;
  sent->body = std::string(request.body);
  sent_.push_back(sent);
  if (scripts_.empty()) {
    ADD_FAILURE() << "more attempts than scripts";
    return {nullptr, {WaitResult::kFailed, Cause::kInternal, "script"}};
  }
  Script script = std::move(scripts_.front());
  scripts_.pop_front();
  const bool connects = script.steps_.back().kind != Script::Step::kRefuse;
  auto stream = std::make_unique<ScriptedStream>(clock_, cancellation_, std::move(script), sent);
  if (connects && !cancellation_.cause().has_value()) return {std::move(stream), {}};
  return {nullptr, stream->WaitFor(deadline)};
}

}  // namespace sluice::testing
