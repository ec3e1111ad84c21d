#include "lib/upstream/prober.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sluice::upstream {
namespace {

constexpr Duration kFirstWithin = std::chrono::seconds(1);
constexpr double kJitter = 0.2;
constexpr size_t kEnoughBody = size_t{64} << 10;

Duration Scaled(Duration duration, double by) {
  return std::chrono::duration_cast<Duration>(duration * by);
}

ProbeResult Failed(const WaitResult& wait, absl::string_view waited_for) {
  switch (wait.kind) {
    case WaitResult::kDeadline:
      return {false, absl::StrCat("no ", waited_for, " in time")};
    case WaitResult::kFailed:
      return {false, absl::StrCat(InfoOf(wait.failure).label, wait.detail.empty() ? "" : ": ",
                                  wait.detail)};
    default:
      return {false, absl::StrCat("no ", waited_for)};
  }
}

}  // namespace

ProbeResult RunProbe(Transport& transport, const Clock& clock, const ProbeJob& job) {
  const Instant deadline = DeadlineAfter(clock.Now(), job.timeout);
  const OpenResult opened = transport.Open(job.member->address, job.request, deadline);
  if (opened.stream == nullptr) return Failed(opened.wait, "connection");
  ResponseHead head;
  const WaitResult wait = opened.stream->ReadHead(deadline, &head);
  if (wait.kind != WaitResult::kOk) return Failed(wait, "answer");
  // An answer about the key says nothing against the endpoint.
  const bool of_key =
      head.status == 401 || head.status == 402 || head.status == 403 || head.status == 429;
  if (!of_key && (head.status < 200 || head.status > 299)) {
    return {false, absl::StrCat("it answers ", head.status)};
  }
  for (size_t size = 0; size < kEnoughBody;) {
    absl::string_view piece;
    bool last = false;
    const WaitResult more = opened.stream->ReadBody(deadline, &piece, &last);
    if (more.kind == WaitResult::kEnd) break;
    if (more.kind != WaitResult::kOk) return Failed(more, "end of the answer");
    size += piece.size();
  }
  return {true, ""};
}

std::vector<ProbeJob> Prober::TakeDue(const config::Snapshot& snapshot) {
  std::vector<ProbeJob> due;
  MutexLock lock(&mutex_);
  const Instant now = clock_.Now();
  ++round_;
  for (const config::Pool& pool : snapshot.config().pools) {
    if (pool.probe.path.empty()) continue;
    const std::shared_ptr<const PoolMembers> members = endpoints_.Members(snapshot, pool);
    for (const Member& member : members->all) {
      const auto [entry, is_new] = turns_.try_emplace(member.state->name);
      Turn& turn = entry->second;
      turn.round = round_;
      if (is_new) {
        turn.at = now + Scaled(std::min(pool.probe.interval, kFirstWithin), random_.Unit());
      }
      // An interval that became shorter counts at once.
      turn.at = std::min(turn.at, now + Scaled(pool.probe.interval, 1 + kJitter));
      if (turn.running || now < turn.at) continue;
      turn.running = true;
      turn.at = now + Scaled(pool.probe.interval, 1 + kJitter * (2 * random_.Unit() - 1));
      due.push_back(JobFor(snapshot, pool, {members, &member}));
    }
  }
  // One that runs is kept: See is to come.
  std::erase_if(turns_, [round = round_](const auto& entry) {
    return entry.second.round != round && !entry.second.running;
  });
  return due;
}

Instant Prober::NextAt() const {
  MutexLock lock(&mutex_);
  Instant next = kNever;
  for (const auto& [name, turn] : turns_) {
    if (!turn.running) next = std::min(next, turn.at);
  }
  return next;
}

void Prober::See(const ProbeJob& job, const ProbeResult& result) {
  {
    MutexLock lock(&mutex_);
    turns_[job.member->state->name].running = false;
  }
  endpoints_.SeeProbe(*job.member, result.ok, result.detail);
}

ProbeJob Prober::JobFor(const config::Snapshot& snapshot, const config::Pool& pool,
                        std::shared_ptr<const Member> member) {
  ProbeJob job{.member = std::move(member), .request = {}, .timeout = pool.probe.timeout};
  job.request.method = "GET";
  job.request.target = pool.probe.path;
  job.request.headers.Add("Accept", "*/*");
  for (const config::HeaderAddition& header : job.member->endpoint->headers) {
    job.request.headers.Set(header.name, header.value);
  }
  if (const std::optional<KeyUse> key = keys_.First(snapshot, pool)) {
    key->AddTo(job.request.headers);
  }
  return job;
}

}  // namespace sluice::upstream
