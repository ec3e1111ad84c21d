#include "server/tail_stream.h"

#include <utility>

#include "lib/base/display_text.h"
#include "server/event_convert.h"
#include "server/proto_time.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;

constexpr size_t kMaxEventNameBytes = 256;

}  // namespace

TailStream::TailStream(grpc::CallbackServerContext* context, const StreamDeps& deps,
                       const ExchangeView& view, std::shared_ptr<Tap> tap)
    : PumpedStream(context, deps),
      registry_(deps.registry),
      id_(view.info().id),
      accepted_(view.record->stamps.accepted),
      started_(view.info().started),
      tap_(std::move(tap)) {}

TailStream::~TailStream() { registry_.RemoveTap(id_, tap_); }

TailStream::Next TailStream::Fill(Instant, pb::TailExchangeResponse* response, grpc::Status*) {
  if (ended_) return Next::kEnd;
  Tap::Batch batch = tap_->Take();
  for (Tap::Frame& caught : batch.frames) {
    pb::TailExchangeResponse::Frame* frame = response->add_frames();
    frame->set_index(static_cast<int64_t>(caught.index));
    *frame->mutable_time() = ToProto(started_ + absl::FromChrono(caught.at - accepted_));
    frame->set_event(DisplayText(caught.event, kMaxEventNameBytes));
    frame->set_data(std::move(caught.data));
    frame->set_data_bytes(static_cast<int64_t>(caught.data_bytes));
  }
  response->set_lost(static_cast<int64_t>(batch.lost));
  if (batch.ended.has_value()) {
    response->set_cause(ToProto(*batch.ended));
    ended_ = true;
  }
  if (ended_) return Next::kWriteMore;
  const bool news = !std::exchange(begun_, true) || batch.lost > 0;
  return news || response->frames_size() > 0 ? Next::kWrite : Next::kNothing;
}

}  // namespace sluice::server
