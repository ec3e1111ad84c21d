#include "server/watcher.h"

#include <algorithm>
#include <utility>

#include "lib/base/ids.h"
#include "lib/base/status.h"
#include "server/event_convert.h"
#include "server/proto_time.h"
#include "server/resume_token.h"

namespace sluice::server {

namespace pb = ::sluice::control::v1;

namespace {

bool IsSane(const google::protobuf::Timestamp& time) {
  constexpr int64_t kEndOf9999 = 253'402'300'799;
  return time.seconds() >= 0 && time.seconds() <= kEndOf9999 && time.nanos() >= 0 &&
         time.nanos() < 1'000'000'000;
}

}  // namespace

absl::StatusOr<WatchPlan> PlanWatch(const pb::WatchEventsRequest& request, const events::Hub& hub) {
  const uint64_t published = hub.stats().published;
  WatchPlan plan;
  plan.position = published;
  if (!request.follow()) plan.last = published;

  if (request.tail() < 0 || request.tail() > 1'000'000) {
    return absl::InvalidArgumentError("tail must be from 0 to 1000000");
  }
  if (!request.resume_token().empty()) {
    if (request.tail() != 0 || request.has_since()) {
      return absl::InvalidArgumentError("resume_token excludes tail and since");
    }
    const std::optional<ResumeToken> token = ParseResumeToken(request.resume_token());
    if (!token || (token->epoch == BootEpoch() && token->sequence > published)) {
      return absl::InvalidArgumentError(
          "resume_token does not come from WatchEvents; leave it out to begin anew");
    }
    plan.restarted = token->epoch != BootEpoch();
    plan.position = plan.restarted ? 0 : token->sequence;
  } else if (request.has_since()) {
    if (request.tail() != 0) {
      return absl::InvalidArgumentError("since and tail exclude each other");
    }
    if (!IsSane(request.since())) {
      return absl::InvalidArgumentError("since is no time from 1970 to 9999");
    }
    plan.position = hub.PositionAt(FromProto(request.since()));
  } else if (request.tail() > 0) {
    const uint64_t wanted = static_cast<uint64_t>(request.tail());
    plan.position = published - std::min<uint64_t>(wanted, hub.stats().size);
  }

  for (const pb::EventFilter& filter : request.filters()) {
    SLUICE_ASSIGN_OR_RETURN(events::Filter converted, FromProto(filter));
    plan.filters.push_back(std::move(converted));
  }
  return plan;
}

Watcher::Watcher(grpc::CallbackServerContext* context, const StreamDeps& deps,
                 const events::Hub& hub, Duration heartbeat, WatchPlan plan)
    : PumpedStream(context, deps),
      clock_(deps.clock),
      hub_(hub),
      heartbeat_(heartbeat),
      filters_(std::move(plan.filters)),
      last_(plan.last),
      reader_(hub, plan.position),
      tell_restart_(plan.restarted) {}

Watcher::Next Watcher::Fill(Instant now, pb::WatchEventsResponse* response, grpc::Status* status) {
  more_ = false;
  if (std::exchange(tell_restart_, false)) {
    more_ = true;
    response->mutable_lost()->set_reason(pb::Lost::REASON_RESTARTED);
  } else {
    ReadEvents(response);
  }
  response->set_resume_token(ToString({BootEpoch(), std::min(reader_.position(), last_)}));
  if (response->events_size() > 0 || response->has_lost() || now >= heartbeat_due_) {
    heartbeat_due_ = DeadlineAfter(now, heartbeat_);
    return more_ || AtEnd() ? Next::kWriteMore : Next::kWrite;
  }
  if (!AtEnd()) return Next::kNothing;
  *status = status_after_last_;
  return Next::kEnd;
}

void Watcher::ReadEvents(pb::WatchEventsResponse* response) {
  while (response->events_size() == 0 && !AtEnd()) {
    const events::Reader::Batch batch = reader_.Read();
    if (batch.lost > 0) {
      pb::Lost* lost = response->mutable_lost();
      lost->set_reason(pb::Lost::REASON_OVERRUN);
      lost->set_count(lost->count() + static_cast<int64_t>(batch.lost));
    }
    if (batch.events.empty()) return;
    more_ = batch.events.size() == events::Reader::kMaxBatch;
    for (const events::Event& event : batch.events) {
      if (event.sequence <= last_ && events::MatchesAny(filters_, event)) {
        ToProto(event, response->add_events());
      }
    }
  }
}

void Watcher::Conclude(const grpc::Status& status) {
  {
    MutexLock lock(&mutex_);
    last_ = std::min(last_, hub_.stats().published);
    status_after_last_ = status;
  }
  Pump(clock_.Now());
}

}  // namespace sluice::server
