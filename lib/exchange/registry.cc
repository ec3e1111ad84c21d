#include "lib/exchange/registry.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace sluice {
namespace {

ExchangeView ViewOf(const std::shared_ptr<const Exchange>& finished) {
  return {finished,       true, finished->subject, finished->attempts, finished->stamps.first_frame,
          finished->usage};
}

}  // namespace

/// What other threads need of a running exchange, beside the published part of its record.
class RunningExchange {
 public:
  RunningExchange(std::shared_ptr<const Exchange> record, Cancellation& cancellation)
      : record_(std::move(record)),
        info_(record_->subject->exchange),
        subject_(record_->subject),
        cancellation_(&cancellation) {}

  const ExchangeInfo& info() const { return *info_; }
  const std::shared_ptr<const Exchange>& record() const { return record_; }

  ExchangeView View() const {
    MutexLock lock(&mutex_);
    if (cancellation_ == nullptr) return ViewOf(record_);
    return {record_, false, subject_, attempts_, first_frame_, usage_};
  }

  void SetAttempts(const std::shared_ptr<const Subject>& subject,
                   const std::vector<Attempt>& attempts) {
    MutexLock lock(&mutex_);
    subject_ = subject;
    attempts_ = attempts;
  }

  void SetUsage(const Usage& usage) {
    MutexLock lock(&mutex_);
    usage_ = usage;
  }

  ExchangeRegistry::CancelResult Cancel(Cause cause, Instant at, absl::string_view detail) {
    MutexLock lock(&mutex_);
    if (cancellation_ == nullptr) return ExchangeRegistry::CancelResult::kFinished;
    return cancellation_->Cancel(cause, at, detail)
               ? ExchangeRegistry::CancelResult::kCancelled
               : ExchangeRegistry::CancelResult::kEndingAlready;
  }

  std::shared_ptr<Tap> AddTap() {
    MutexLock lock(&mutex_);
    if (cancellation_ == nullptr) return nullptr;
    taps_.push_back(std::make_shared<Tap>());
    tapped_ = true;
    return taps_.back();
  }

  void RemoveTap(const std::shared_ptr<Tap>& tap) {
    MutexLock lock(&mutex_);
    taps_.erase(std::remove(taps_.begin(), taps_.end(), tap), taps_.end());
    tapped_ = !taps_.empty();
  }

  void PutFrame(const FrameInfo& frame) {
    if (!tapped_ && !frame.first_valid) return;
    MutexLock lock(&mutex_);
    if (frame.first_valid) first_frame_ = frame.at;
    for (const auto& tap : taps_) tap->Put(frame);
  }

  /// Of the record, everything may be read from here on.
  void Finish(Cause cause) {
    MutexLock lock(&mutex_);
    cancellation_ = nullptr;
    for (const auto& tap : taps_) tap->End(cause);
  }

 private:
  const std::shared_ptr<const Exchange> record_;
  const std::shared_ptr<const ExchangeInfo> info_;
  std::atomic<bool> tapped_{false};  // whether there are taps, to be known without the mutex

  mutable Mutex mutex_;
  std::shared_ptr<const Subject> subject_ ABSL_GUARDED_BY(mutex_);
  std::vector<Attempt> attempts_ ABSL_GUARDED_BY(mutex_);
  std::optional<Instant> first_frame_ ABSL_GUARDED_BY(mutex_);
  std::optional<Usage> usage_ ABSL_GUARDED_BY(mutex_);
  Cancellation* cancellation_ ABSL_GUARDED_BY(mutex_);  // null once it has finished
  std::vector<std::shared_ptr<Tap>> taps_ ABSL_GUARDED_BY(mutex_);
};

std::vector<absl::string_view> ExchangeView::endpoints_in_use() const {
  std::vector<absl::string_view> endpoints;
  for (const Attempt& attempt : attempts) {
    if (!finished && !attempt.ended.has_value()) endpoints.push_back(attempt.endpoint);
  }
  return endpoints;
}

void ExchangeRegistry::Enter(std::shared_ptr<Exchange> record, Cancellation& cancellation) {
  auto running = std::make_shared<RunningExchange>(record, cancellation);
  record->running = running.get();
  MutexLock lock(&mutex_);
  ++entered_;
  running_.emplace(running->info().id.value, running);
}

void ExchangeRegistry::AttemptsChanged(const Exchange& x) {
  x.running->SetAttempts(x.subject, x.attempts);
}

void ExchangeRegistry::OnAttempt(const Exchange& x, const Attempt&) { AttemptsChanged(x); }

void ExchangeRegistry::OnAttemptFailed(const Exchange& x, const Attempt&) { AttemptsChanged(x); }

void ExchangeRegistry::OnFrame(const Exchange& x, const FrameInfo& f) { x.running->PutFrame(f); }

void ExchangeRegistry::OnUsage(const Exchange& x, const Usage& u) { x.running->SetUsage(u); }

void ExchangeRegistry::OnFinished(const Exchange& x) {
  const Cause cause = x.cause.value_or(Cause::kInternal);
  x.running->Finish(cause);
  std::shared_ptr<const Exchange> forgotten;  // destroyed after the lock is given back
  RunningPtr left;
  MutexLock lock(&mutex_);
  auto node = running_.extract(x.info().id.value);
  left = std::move(node.mapped());
  finished_.push_back(left->record());
  if (finished_.size() > finished_kept_) {
    forgotten = std::move(finished_.front());
    finished_.pop_front();
  }
  ++finished_by_cause_[cause];
}

ExchangeRegistry::RunningPtr ExchangeRegistry::FindRunning(ExchangeId id) const {
  MutexLock lock(&mutex_);
  const auto found = running_.find(id.value);
  return found == running_.end() ? nullptr : found->second;
}

std::vector<ExchangeRegistry::RunningPtr> ExchangeRegistry::AllRunning() const {
  std::vector<RunningPtr> all;
  {
    MutexLock lock(&mutex_);
    all.reserve(running_.size());
    for (const auto& [id, running] : running_) all.push_back(running);
  }
  std::sort(all.begin(), all.end(), [](const RunningPtr& a, const RunningPtr& b) {
    return a->info().id.value > b->info().id.value;
  });
  return all;
}

std::vector<ExchangeView> ExchangeRegistry::ListRunning() const {
  std::vector<ExchangeView> views;
  for (const RunningPtr& running : AllRunning()) {
    ExchangeView view = running->View();
    if (!view.finished) views.push_back(std::move(view));
  }
  return views;
}

std::vector<ExchangeView> ExchangeRegistry::ListFinished() const {
  std::vector<std::shared_ptr<const Exchange>> finished;
  {
    MutexLock lock(&mutex_);
    finished.assign(finished_.begin(), finished_.end());
  }
  std::sort(finished.begin(), finished.end(),
            [](const auto& a, const auto& b) { return a->info().id.value > b->info().id.value; });
  std::vector<ExchangeView> views;
  views.reserve(finished.size());
  for (const auto& record : finished) views.push_back(ViewOf(record));
  return views;
}

std::optional<ExchangeView> ExchangeRegistry::Find(ExchangeId id) const {
  if (const RunningPtr running = FindRunning(id)) return running->View();
  MutexLock lock(&mutex_);
  const auto found = std::find_if(finished_.rbegin(), finished_.rend(),
                                  [id](const auto& x) { return x->info().id == id; });
  if (found == finished_.rend()) return std::nullopt;
  return ViewOf(*found);
}

ExchangeRegistry::CancelResult ExchangeRegistry::Cancel(ExchangeId id, Cause cause, Instant at,
                                                        absl::string_view detail) {
  if (const RunningPtr running = FindRunning(id)) return running->Cancel(cause, at, detail);
  return Find(id).has_value() ? CancelResult::kFinished : CancelResult::kUnknown;
}

std::shared_ptr<Tap> ExchangeRegistry::AddTap(ExchangeId id) {
  const RunningPtr running = FindRunning(id);
  return running == nullptr ? nullptr : running->AddTap();
}

void ExchangeRegistry::RemoveTap(ExchangeId id, const std::shared_ptr<Tap>& tap) {
  if (const RunningPtr running = FindRunning(id)) running->RemoveTap(tap);
}

ExchangeRegistry::Books ExchangeRegistry::books() const {
  MutexLock lock(&mutex_);
  return {entered_, running_.size(), finished_by_cause_};
}

std::map<uint64_t, int64_t, std::greater<>> ExchangeRegistry::RunningByGeneration() const {
  std::map<uint64_t, int64_t, std::greater<>> counts;
  MutexLock lock(&mutex_);
  for (const auto& [id, running] : running_) ++counts[running->info().config_generation];
  return counts;
}

}  // namespace sluice
