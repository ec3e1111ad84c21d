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

Watcher::Watcher(grpc::CallbackServerContext* context, const Clock& clock, const events::Hub& hub,
                 Owner& owner, Limits limits, WatchPlan plan)
    : context_(context),
      clock_(clock),
      owner_(owner),
      limits_(limits),
      filters_(std::move(plan.filters)),
      last_(plan.last),
      reader_(hub, plan.position),
      tell_restart_(plan.restarted) {}

void Watcher::Pump() {
  const Instant now = clock_.Now();
  bool stalled = false;
  bool at_end = false;
  grpc::Status status;
  {
    MutexLock lock(&mutex_);
    if (ending_) return;
    if (writing_) {
      if (now < write_due_) return;
      stalled = ending_ = true;
      ++holds_;
    } else if (FillResponse(now)) {
      writing_ = true;
      ++holds_;
      write_due_ = DeadlineAfter(now, limits_.write);
      heartbeat_due_ = DeadlineAfter(now, limits_.heartbeat);
    } else if (AtEnd()) {
      at_end = true;
      status = status_after_last_;
    } else {
      return;
    }
  }
  if (stalled) {
    owner_.OnWatcherDropped();
    context_->TryCancel();  // makes the write fail
    Release();
  } else if (at_end) {
    End(status);
  } else {
    StartWrite(&response_);
  }
}

bool Watcher::FillResponse(Instant now) {
  response_.Clear();
  if (std::exchange(tell_restart_, false)) {
    response_.mutable_lost()->set_reason(pb::Lost::REASON_RESTARTED);
  } else {
    ReadEvents();
  }
  response_.set_resume_token(ToString({BootEpoch(), std::min(reader_.position(), last_)}));
  return response_.events_size() > 0 || response_.has_lost() || now >= heartbeat_due_;
}

void Watcher::ReadEvents() {
  while (response_.events_size() == 0 && !AtEnd()) {
    const events::Reader::Batch batch = reader_.Read();
    if (batch.lost > 0) {
      pb::Lost* lost = response_.mutable_lost();
      lost->set_reason(pb::Lost::REASON_OVERRUN);
      lost->set_count(lost->count() + static_cast<int64_t>(batch.lost));
    }
    if (batch.events.empty()) return;
    for (const events::Event& event : batch.events) {
      if (event.sequence <= last_ && events::MatchesAny(filters_, event)) {
        ToProto(event, response_.add_events());
      }
    }
  }
}

void Watcher::EndAfter(uint64_t sequence, const grpc::Status& status) {
  {
    MutexLock lock(&mutex_);
    last_ = std::min(last_, sequence);
    status_after_last_ = status;
  }
  Pump();
}

void Watcher::End(const grpc::Status& status) {
  {
    MutexLock lock(&mutex_);
    if (ending_) return;
    ending_ = true;
    end_status_ = status;
    ++holds_;
  }
  Release();
}

void Watcher::Release() {
  grpc::Status status;
  {
    MutexLock lock(&mutex_);
    --holds_;
    if (holds_ > 0 || !ending_ || finished_) return;
    finished_ = true;
    status = end_status_;
  }
  Finish(status);
}

void Watcher::OnWriteDone(bool ok) {
  const std::shared_ptr<Watcher> self = shared_from_this();  // Release may lead to OnDone
  {
    MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok) ending_ = true;
  }
  Release();
  Pump();
}

void Watcher::OnCancel() { End(grpc::Status::CANCELLED); }

void Watcher::OnDone() { owner_.OnWatcherDone(this); }

}  // namespace sluice::server
