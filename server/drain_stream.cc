#include "server/drain_stream.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "server/exchange_convert.h"
#include "server/proto_time.h"
#include "server/rpc_error.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;

constexpr size_t kMostTold = 20;
constexpr Duration kShortestPause = std::chrono::milliseconds(200);  // between two responses
constexpr Duration kLongestPause = std::chrono::seconds(10);
/// For cancelled exchanges to end.
constexpr Duration kCancelPatience = std::chrono::seconds(5);

}  // namespace

DrainStream::DrainStream(grpc::CallbackServerContext* context, const StreamDeps& deps,
                         DrainPlan plan)
    : PumpedStream(context, deps),
      clock_(deps.clock),
      registry_(deps.registry),
      plan_(std::move(plan)) {}

DrainStream::~DrainStream() { NoteEnd("CANCELLED"); }

DrainStream::Next DrainStream::Fill(Instant now, pb::DrainProgress* response,
                                    grpc::Status* status) {
  if (done_) return Next::kEnd;
  if (!plan_.goes_on()) {
    NoteEnd("ABORTED");
    *status = RpcError(grpc::StatusCode::ABORTED, "DRAIN_TAKEN_BACK",
                       "the drain was taken back meanwhile: it was resumed or removed");
    return Next::kEnd;
  }
  const bool expired = now >= plan_.deadline;
  const bool cancels =
      expired && plan_.cancel && now < DeadlineAfter(plan_.deadline, kCancelPatience);
  if (cancels) CancelRemaining(now);
  const int64_t remaining = plan_.remaining();
  done_ = remaining == 0 || (expired && !cancels);
  const Duration pause = remaining == told_remaining_ ? kLongestPause : kShortestPause;
  if (!done_ && told_remaining_ >= 0 && now < told_at_ + pause) return Next::kNothing;

  told_at_ = now;
  told_remaining_ = remaining;
  if (done_) NoteEnd(remaining == 0 ? "OK" : "DEADLINE_EXCEEDED");
  response->set_remaining(remaining);
  std::vector<ExchangeView> views = Remaining();
  for (size_t i = 0; i < std::min(views.size(), kMostTold); ++i) {
    ToProto(views[i], now, response->add_oldest());
  }
  *response->mutable_deadline() =
      ToProto(clock_.WallNow() + absl::FromChrono(plan_.deadline - now));
  response->set_cancelled(cancelled_);
  response->set_done(done_);
  return done_ ? Next::kWriteMore : Next::kWrite;
}

void DrainStream::NoteEnd(absl::string_view outcome) {
  if (std::exchange(end_noted_, true)) return;
  plan_.on_end({outcome, std::max<int64_t>(told_remaining_, 0), cancelled_});
}

std::vector<ExchangeView> DrainStream::Remaining() const {
  std::vector<ExchangeView> views = registry_.ListRunning();
  std::erase_if(views, [this](const ExchangeView& view) { return !plan_.concerns(view); });
  std::reverse(views.begin(), views.end());
  return views;
}

void DrainStream::CancelRemaining(Instant now) {
  for (const ExchangeView& view : Remaining()) {
    const auto result = registry_.Cancel(view.info().id, Cause::kDrained, now, plan_.detail);
    if (result == ExchangeRegistry::CancelResult::kCancelled) ++cancelled_;
  }
}

}  // namespace sluice::server
