#include "lib/relay/upstream_answer.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/relay/headers.h"

namespace sluice::relay {
namespace {

// An upstream that has sent its end marker gets this long to end the body as well; then it is ended
// for it.
constexpr Duration kEndGrace = std::chrono::seconds(2);

// An event stream has no length: an event that ends it after a break would not fit into one.
Answer::Body BodyOf(const HeldAnswer& held) {
  if (!held.has_body) return Answer::Body::kNone;
  const bool sized =
      held.kind != BodyKind::kEventStream && held.head.headers.Find("Content-Length") != nullptr;
  return sized ? Answer::Body::kSized : Answer::Body::kOpen;
}

}  // namespace

UpstreamAnswer::UpstreamAnswer(std::unique_ptr<LiveExchange> exchange,
                               std::shared_ptr<const config::Snapshot> snapshot,
                               const config::Pool& pool, upstream::Lease lease,
                               dialect::Dialect dialect, HeldAnswer held)
    : body_(BodyOf(held)),
      exchange_(std::move(exchange)),
      snapshot_(std::move(snapshot)),
      pool_(pool),
      lease_(std::move(lease)),
      stream_(std::move(held.stream)),
      watch_(held.kind, dialect, exchange_->record(), exchange_->observer()),
      head_(std::move(held.head)),
      held_(std::move(held.held)),
      first_frame_(held.first_frame),
      standing_(held.standing),
      dialect_(dialect),
      ended_(held.ended) {
  PrepareAnswerHead(exchange_->record().info->request_id, head_);
  if (body_ == Body::kOpen) head_.headers.Remove("Content-Length");
}

UpstreamAnswer::~UpstreamAnswer() { Finish(exchange_->LossCause()); }

Answer::Step UpstreamAnswer::Next(ClientSink& sink) {
  return committed_ ? Relay(sink) : Commit(sink);
}

Answer::Step UpstreamAnswer::Commit(ClientSink& sink) {
  committed_ = true;
  exchange_->Commit(head_.status);
  last_passed_at_ = *exchange_->record().stamps.first_byte;
  sink.WriteHead(head_);
  head_ = ResponseHead();
  const std::string held = std::exchange(held_, std::string());
  if (!held.empty() && !Pass(held, sink)) return Step::kAbort;
  return ended_ ? EndOfBody(sink) : Step::kMore;
}

Answer::Step UpstreamAnswer::Relay(ClientSink& sink) {
  const Limit limit = SilenceLimit();
  absl::string_view piece;
  bool last = false;
  const WaitResult wait = stream_->ReadBody(limit.at, &piece, &last);
  switch (wait.kind) {
    case WaitResult::kOk:
      exchange_->record().bytes_from_upstream += piece.size();
      if (!Pass(piece, sink)) return Step::kAbort;
      return last ? Relay(sink) : Step::kMore;
    case WaitResult::kEnd:
      return EndOfBody(sink);
    case WaitResult::kDeadline:
      return watch_.closed() ? EndOfBody(sink) : Break(sink, limit.cause, "");
    case WaitResult::kCancelled:
      return Break(sink, exchange_->LossCause(), "");
    case WaitResult::kFailed:
      break;
  }
  return Break(sink, wait.failure, wait.detail);
}

bool UpstreamAnswer::Pass(absl::string_view piece, ClientSink& sink) {
  Exchange& record = exchange_->record();
  const Instant read_at = exchange_->clock().Now();
  const ClientSink::Result result = sink.Write(piece, pool_.timeouts.client_stall);
  if (result != ClientSink::Result::kOk) {
    Finish(result == ClientSink::Result::kStalled ? Cause::kClientTooSlow : exchange_->LossCause());
    return false;
  }
  const Instant passed_at = exchange_->clock().Now();
  record.bytes_to_client += piece.size();
  if (const Duration gap = passed_at - last_passed_at_; gap > record.largest_gap) {
    record.largest_gap = gap;
    record.largest_gap_by_client = passed_at - read_at > read_at - last_passed_at_;
  }
  last_passed_at_ = passed_at;
  watch_.See(piece, passed_at);
  return true;
}

Limit UpstreamAnswer::SilenceLimit() const {
  const config::Timeouts& timeouts = pool_.timeouts;
  const Limit idle = {DeadlineAfter(last_passed_at_, timeouts.idle), Cause::kIdleTimeout};
  if (!watch_.is_event_stream()) return idle;
  if (watch_.closed()) {
    return Nearest({idle, {DeadlineAfter(last_passed_at_, kEndGrace), Cause::kCompleted}});
  }
  if (!exchange_->record().stamps.first_frame.has_value()) return Nearest({idle, first_frame_});
  return Nearest(
      {idle,
       {DeadlineAfter(*watch_.last_frame_at(), timeouts.frame_idle), Cause::kFrameIdleTimeout}});
}

Answer::Step UpstreamAnswer::EndOfBody(ClientSink& sink) {
  const Cause cause = watch_.SeeEnd(last_passed_at_);
  if (cause == Cause::kTruncated && watch_.is_event_stream()) return Break(sink, cause, "");
  // Any other body came whole and was passed whole, whatever it holds.
  Finish(standing_.value_or(cause));
  return Step::kEnd;
}

Answer::Step UpstreamAnswer::Break(ClientSink& sink, Cause cause, absl::string_view detail) {
  stream_.reset();  // the upstream is cancelled before a slow client is written to
  if (!watch_.is_event_stream() || cause == Cause::kClientGone) {
    Finish(cause, detail);
    return Step::kAbort;
  }
  if (!watch_.closed()) {
    const std::string ending =
        absl::StrCat(watch_.inside_event() ? "\n\n" : "",
                     dialect::ErrorEvent(dialect_, cause, InfoOf(cause).message));
    if (sink.Write(ending, pool_.timeouts.client_stall) == ClientSink::Result::kOk) {
      exchange_->record().bytes_to_client += ending.size();
    }
  }
  Finish(cause, detail);
  return Step::kEnd;
}

void UpstreamAnswer::Finish(Cause cause, absl::string_view detail) {
  stream_.reset();
  lease_.Release();
  if (watch_.errored()) {
    cause = Cause::kUpstreamErrorFrame;  // came first, whatever ended the connection
  } else if (watch_.closed() && cause == Cause::kClientGone) {
    cause = Cause::kCompleted;  // it had all of the answer
  }
  exchange_->Finish(cause, detail);
}

}  // namespace sluice::relay
