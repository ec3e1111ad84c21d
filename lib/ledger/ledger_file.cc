#include "lib/ledger/ledger_file.h"

#include <algorithm>
#include <pthread.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/base/log.h"
#include "lib/base/status.h"
#include "lib/ledger/ledger_line.h"

namespace sluice::ledger {
namespace {

/// Under load, one wake-up and one write are for many lines.
constexpr Duration kGatherTime = std::chrono::milliseconds(2);

/// Of the system: a condition variable waits by no other clock.
Instant Now() { return SystemClock().Now(); }

}  // namespace

void LedgerFile::Trouble::Note(const absl::Status& status) {
  if (status.ok() != now_) return;
  now_ = !status.ok();
  if (now_) {
    Log(LogLevel::kError, what_, {{"error", status.message()}});
  } else {
    Log(LogLevel::kInfo, absl::StrCat("no longer: ", what_));
  }
}

absl::StatusOr<std::unique_ptr<LedgerFile>> LedgerFile::Open(const std::string& path,
                                                             const Options& options) {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<LineFile> file, LineFile::Open(path));
  return std::unique_ptr<LedgerFile>(new LedgerFile(std::move(file), options));
}

LedgerFile::LedgerFile(std::unique_ptr<LineFile> file, const Options& options)
    : options_(options),
      file_(std::move(file)),
      next_tick_(Now() + options_.tick),
      thread_([this] { Run(); }) {}

LedgerFile::~LedgerFile() {
  {
    MutexLock lock(&mutex_);
    ending_ = true;
  }
  news_.NotifyOne();
  thread_.join();
}

void LedgerFile::OnFinished(const Exchange& x) {
  bool first;
  {
    MutexLock lock(&mutex_);
    if (waiting_.size() >= options_.max_waiting) {
      ++lost_;
      return;
    }
    first = waiting_.empty();
    waiting_.push_back(x.shared_from_this());
  }
  if (first) news_.NotifyOne();
}

uint64_t LedgerFile::lost() const {
  MutexLock lock(&mutex_);
  return lost_;
}

void LedgerFile::Run() {
  ::pthread_setname_np(::pthread_self(), "sluice-ledger");
  Records records;
  std::string lines;  // not in the file yet
  while (true) {
    const bool wanted = lines.empty();
    const bool ending = Await(wanted, &records);
    const bool took_all = wanted && records.empty();
    for (const auto& record : records) absl::StrAppend(&lines, LedgerLine(*record), "\n");
    records.clear();
    if (Now() >= next_tick_) Tick();
    Write(&lines);
    if (ending && (took_all || writing_.now())) break;
  }
  Sync();
  {
    MutexLock lock(&mutex_);
    lost_ += waiting_.size() + static_cast<size_t>(std::count(lines.begin(), lines.end(), '\n'));
  }
  TellLost();
}

bool LedgerFile::Await(bool wanted, Records* records) {
  MutexLock lock(&mutex_);
  const auto ending = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ending_; };
  const auto ready = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ending_ || (wanted && !waiting_.empty());
  };
  const bool in_time = news_.WaitFor(&mutex_, next_tick_ - Now(), ready);
  if (wanted) {
    if (in_time) news_.WaitFor(&mutex_, kGatherTime, ending);
    records->swap(waiting_);
  }
  return ending_;
}

void LedgerFile::Write(std::string* lines) {
  if (lines->empty()) return;
  absl::string_view rest = *lines;
  writing_.Note(file_->Append(&rest));
  unconfirmed_ |= rest.size() < lines->size();
  lines->erase(0, lines->size() - rest.size());
}

void LedgerFile::Sync() {
  if (!std::exchange(unconfirmed_, false)) return;
  confirming_.Note(file_->Sync());
}

void LedgerFile::Tick() {
  next_tick_ = Now() + options_.tick;
  Sync();
  following_.Note(file_->FollowPath());
  TellLost();
}

void LedgerFile::TellLost() {
  const uint64_t count = lost();
  if (count == lost_told_) return;
  Log(LogLevel::kError, "exchanges are missing in the ledger",
      {{"count", count - lost_told_}, {"since_start", count}});
  lost_told_ = count;
}

}  // namespace sluice::ledger
