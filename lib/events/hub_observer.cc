#include "lib/events/hub_observer.h"

#include <utility>

#include "absl/time/time.h"

namespace sluice::events {
namespace {

// A detail may quote an upstream; the ring holds thousands of events.
constexpr size_t kMaxDetailBytes = 1024;

}  // namespace

void HubObserver::OnStarted(const Exchange& x) {
  const auto subject = std::make_shared<const Subject>(Subject{.exchange = x.info});
  SetSubject(x.info->id, subject);
  Publish(x, subject, x.stamps.accepted, ExchangeStarted{});
}

void HubObserver::OnAttempt(const Exchange& x, const Attempt& a) {
  const auto subject = std::make_shared<const Subject>(Subject{
      .exchange = x.info, .endpoint = a.endpoint, .key_id = a.key_id, .attempt = a.index + 1});
  SetSubject(x.info->id, subject);
  Publish(x, subject, a.started, AttemptStarted{});
}

void HubObserver::OnAttemptFailed(const Exchange& x, const Attempt& a) {
  Publish(x, SubjectOf(x.info->id), a.ended.value_or(clock_.Now()),
          std::make_shared<const AttemptFailed>(
              AttemptFailed{a.failure.value_or(Cause::kInternal), a.http_status,
                            a.detail.substr(0, kMaxDetailBytes)}));
}

void HubObserver::OnFirstByte(const Exchange& x) {
  Publish(x, SubjectOf(x.info->id), x.stamps.first_byte.value_or(clock_.Now()),
          FirstByte{x.http_status});
}

void HubObserver::OnFrame(const Exchange& x, const FrameInfo& f) {
  const SubjectPtr subject = SubjectOf(x.info->id);
  if (f.first_valid) Publish(x, subject, f.at, FirstFrame{f.index});
  Publish(x, subject, f.at, Chunk{f.index, f.end - f.start, f.gap});
}

void HubObserver::OnUsage(const Exchange& x, const Usage& u) {
  Publish(x, SubjectOf(x.info->id), clock_.Now(),
          std::make_shared<const UsageReported>(UsageReported{u}));
}

void HubObserver::OnFinished(const Exchange& x) {
  Publish(x, TakeSubject(x.info->id), x.stamps.done.value_or(clock_.Now()),
          std::make_shared<const ExchangeFinished>(ExchangeFinished{
              .cause = x.cause.value_or(Cause::kInternal),
              .detail = x.detail.substr(0, kMaxDetailBytes),
              .http_status = x.http_status,
              .attempts = static_cast<int>(x.attempts.size()),
              .stamps = x.stamps,
              .bytes_from_upstream = x.bytes_from_upstream,
              .bytes_to_client = x.bytes_to_client,
              .frames = x.frames,
              .usage = x.usage,
              .provenance = x.provenance,
              .finish_reason = x.finish_reason,
              .largest_gap = x.largest_gap,
              .largest_gap_by_client = x.largest_gap_by_client,
              .digest_from_upstream = x.digest_from_upstream,
              .digest_to_client = x.digest_to_client,
              .valid_frames_only = x.valid_frames_only,
              .dropped_bytes = x.dropped_bytes,
              .dropped_stretches = x.dropped_stretches,
              .cancel_latency = x.cancel_latency,
              .key_id = x.attempts.empty() ? "" : x.attempts.back().key_id,
          }));
}

void HubObserver::SetSubject(ExchangeId id, SubjectPtr subject) {
  Shard& shard = ShardOf(id);
  MutexLock lock(&shard.mutex);
  shard.subjects[id.value] = std::move(subject);
}

HubObserver::SubjectPtr HubObserver::SubjectOf(ExchangeId id) {
  Shard& shard = ShardOf(id);
  MutexLock lock(&shard.mutex);
  const auto found = shard.subjects.find(id.value);
  return found == shard.subjects.end() ? nullptr : found->second;
}

HubObserver::SubjectPtr HubObserver::TakeSubject(ExchangeId id) {
  Shard& shard = ShardOf(id);
  MutexLock lock(&shard.mutex);
  auto node = shard.subjects.extract(id.value);
  return node.empty() ? nullptr : std::move(node.mapped());
}

void HubObserver::Publish(const Exchange& x, SubjectPtr subject, Instant at, What what) {
  const Duration since_start = at - x.stamps.accepted;
  hub_.Publish({.time = x.info->started + absl::FromChrono(since_start),
                .subject = std::move(subject),
                .since_start = since_start,
                .what = std::move(what)});
}

}  // namespace sluice::events
