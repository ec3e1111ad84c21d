#include "lib/relay/upstream_answer.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/relay/headers.h"
#include "lib/upstream/outcome.h"

namespace sluice::relay {
namespace {

// An upstream that has sent its end marker gets this long to end the body as well; then it is ended
// for it.
constexpr Duration kEndGrace = std::chrono::seconds(2);

// Events that follow each other faster are read by nobody one by one.
constexpr Duration kFastGap = std::chrono::milliseconds(2);

// An event stream has no length: an event that ends it after a break would not fit into one.
Answer::Body BodyOf(const HeldAnswer& held) {
  if (!held.has_body) return Answer::Body::kNone;
  const bool sized =
      held.kind != BodyKind::kEventStream && held.head.headers.Find("Content-Length") != nullptr;
  return sized ? Answer::Body::kSized : Answer::Body::kOpen;
}

}  // namespace

UpstreamAnswer::UpstreamAnswer(std::unique_ptr<LiveExchange> exchange, dialect::Dialect dialect,
                               Served served)
    : body_(BodyOf(served.held)),
      exchange_(std::move(exchange)),
      snapshot_(std::move(served.snapshot)),
      pool_(served.pool),
      slot_(std::move(served.slot)),
      pair_(std::move(served.pair)),
      stream_(std::move(served.held.stream)),
      watch_(served.held.kind, dialect, served.rules, exchange_->record(), exchange_->observer()),
      uncommitted_(std::make_unique<Uncommitted>(Uncommitted{
          std::move(served.held.head), std::move(served.held.held), served.held.ended})),
      first_frame_(served.held.first_frame),
      standing_(served.held.standing),
      rest_(served.held.rest),
      dialect_(dialect) {
  if (!served.rules.PassAll() && watch_.is_event_stream()) {
    filter_ = std::make_unique<FrameFilter>(served.rules, exchange_->record());
    written_ = std::make_unique<Digest>();
  }
  ResponseHead& head = uncommitted_->head;
  PrepareAnswerHead(exchange_->record().info().request_id, head);
  if (body_ == Body::kOpen) head.headers.Remove("Content-Length");
}

UpstreamAnswer::~UpstreamAnswer() { Finish(exchange_->LossCause()); }

Answer::Step UpstreamAnswer::Next(ClientSink& sink) {
  if (uncommitted_ == nullptr) return Relay(sink);
  return Commit(std::move(*std::exchange(uncommitted_, nullptr)), sink);
}

Answer::Step UpstreamAnswer::Commit(Uncommitted answer, ClientSink& sink) {
  exchange_->Commit(answer.head.status);
  last_passed_at_ = *exchange_->record().stamps.first_byte;
  sink.WriteHead(answer.head);
  if (!answer.held.empty() && !Pass(answer.held, sink)) return Step::kAbort;
  if (answer.ended) return EndOfBody(sink);
  if (MustStop()) return Stop(sink);
  const bool alone = exchange_->record().bytes_to_client == 0;
  if (alone && !Survives(sink.Flush(pool_.timeouts.client_stall))) return Step::kAbort;
  return Step::kMore;
}

Answer::Step UpstreamAnswer::Relay(ClientSink& sink) {
  const Limit limit = SilenceLimit();
  const Instant before = last_passed_at_;
  absl::string_view piece;
  bool last = false;
  const WaitResult wait = stream_->ReadBody(limit.at, &piece, &last);
  switch (wait.kind) {
    case WaitResult::kOk:
      exchange_->record().bytes_from_upstream += piece.size();
      if (!Pass(piece, sink)) return Step::kAbort;
      if (last) return Relay(sink);
      if (MustStop()) return Stop(sink);
      if (watch_.is_event_stream()) HoldBackIfFast(last_passed_at_ - before, sink);
      return Step::kMore;
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

void UpstreamAnswer::HoldBackIfFast(Duration gap, ClientSink& sink) {
  const bool was_fast = std::exchange(fast_, gap < kFastGap);
  if (fast_ && was_fast) sink.LetMoreCome();
}

bool UpstreamAnswer::Pass(absl::string_view piece, ClientSink& sink) {
  Exchange& record = exchange_->record();
  const Instant read_at = exchange_->clock().Now();
  if (!(filter_ ? Write(filter_->Take(piece), sink) : Write(piece, sink))) return false;
  const Instant passed_at = exchange_->clock().Now();
  if (const Duration gap = passed_at - last_passed_at_; gap > record.largest_gap) {
    record.largest_gap = gap;
    record.largest_gap_by_client = passed_at - read_at > read_at - last_passed_at_;
  }
  record.last_piece_at = last_passed_at_ = passed_at;
  sink.RunOnSharedStack([&] {
    read_.Update(piece);
    watch_.See(piece, passed_at);
  });
  return true;
}

bool UpstreamAnswer::Write(absl::string_view bytes, ClientSink& sink) {
  if (bytes.empty()) return true;
  if (!Survives(sink.Write(bytes, pool_.timeouts.client_stall))) return false;
  exchange_->record().bytes_to_client += bytes.size();
  if (written_ != nullptr) written_->Update(bytes);
  return true;
}

bool UpstreamAnswer::Survives(ClientSink::Result result) {
  if (result == ClientSink::Result::kOk) return true;
  Finish(result == ClientSink::Result::kStalled ? Cause::kClientTooSlow : exchange_->LossCause());
  return false;
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
  if (filter_ && !Write(filter_->Finish(), sink)) return Step::kAbort;
  const Cause cause = watch_.SeeEnd(last_passed_at_);
  const bool untold = cause == Cause::kUpstreamErrorFrame && !watch_.told();
  if (watch_.is_event_stream() && (cause == Cause::kTruncated || untold)) {
    return Break(sink, cause, "");
  }
  // Any other body came whole and was passed whole, whatever it holds.
  Finish(standing_.value_or(cause));
  return Step::kEnd;
}

Answer::Step UpstreamAnswer::Stop(ClientSink& sink) {
  return Break(sink, Cause::kOverLimit, "its principal's tokens of the minute are used up");
}

Answer::Step UpstreamAnswer::Break(ClientSink& sink, Cause cause, absl::string_view detail) {
  CloseUpstream();  // before a slow client is written to
  // When a crowd leaves at once, all upstreams hear of it before anything is written down.
  if (cause == Cause::kClientGone) sink.LetOthersRun();
  if (!watch_.is_event_stream() || cause == Cause::kClientGone) {
    Finish(cause, detail);
    return Step::kAbort;
  }
  if (watch_.errored()) cause = Cause::kUpstreamErrorFrame;
  std::string ending = filter_ ? filter_->Finish() : "";
  if (!watch_.told()) {
    const bool inside_event = filter_ ? filter_->inside_event() : watch_.inside_event();
    absl::StrAppend(&ending, inside_event ? "\n\n" : "",
                    dialect::ErrorEvent(dialect_, cause, InfoOf(cause).message));
  }
  if (!ending.empty() &&
      sink.Write(ending, pool_.timeouts.client_stall) == ClientSink::Result::kOk) {
    exchange_->record().bytes_to_client += ending.size();
    if (written_ == nullptr) written_ = std::make_unique<Digest>(read_);
    written_->Update(ending);
  }
  Finish(cause, detail);
  return Step::kEnd;
}

void UpstreamAnswer::ReturnPair(Cause cause) {
  const dialect::UpstreamError* said = watch_.error();
  const dialect::UpstreamError error = said != nullptr ? *said : dialect::UpstreamError();
  if (said != nullptr && pair_.key.has_value()) pair_.key->SeeError(error.type, error.code);
  const int status = exchange_->record().attempts.back().http_status;
  pair_.lease.Report(upstream::OutcomeOf(cause, status, error.type, error.code), cause, rest_);
  pair_.lease.Release();
  slot_.reset();
}

void UpstreamAnswer::CloseUpstream() {
  stream_.reset();
  exchange_->UpstreamClosed();
}

void UpstreamAnswer::Finish(Cause cause, absl::string_view detail) {
  if (exchange_->finished()) return;
  CloseUpstream();
  if (exchange_->record().stamps.first_byte.has_value()) {
    exchange_->record().digest_from_upstream = read_.value();
    exchange_->record().digest_to_client = (written_ != nullptr ? *written_ : read_).value();
  }
  if (watch_.errored()) {
    cause = Cause::kUpstreamErrorFrame;  // came first, whatever ended the connection
  } else if (watch_.closed() && cause == Cause::kClientGone) {
    cause = Cause::kCompleted;  // it had all of the answer
  }
  ReturnPair(cause);
  exchange_->Finish(cause, detail);
}

}  // namespace sluice::relay
