#include "lib/http/tls_contexts.h"

#include <algorithm>
#include <array>
#include <string>
#include <sys/stat.h>
#include <tuple>
#include <utility>

#include "lib/base/log.h"
#include "lib/http/wait_results.h"

namespace sluice::http {
namespace {

/// After which a configuration that nobody uses any more is forgotten.
constexpr Duration kForgetAfter = std::chrono::minutes(10);

Instant Now() { return std::chrono::steady_clock::now(); }

/// Differs when a file does, whether it was written to, replaced, or made readable.
using FileStamp = std::tuple<ino_t, off_t, int64_t, int64_t>;

FileStamp StampOf(const std::string& path) {
  struct stat file {};
  if (path.empty() || ::stat(path.c_str(), &file) != 0) return {};
  return {file.st_ino, file.st_size, file.st_ctim.tv_sec, file.st_ctim.tv_nsec};
}

}  // namespace

class TlsContexts::Entry {
 public:
  explicit Entry(const TlsOptions& options) : options_(options) {}

  const TlsOptions& options() const { return options_; }

  Instant used_at() {
    MutexLock lock(&mutex_);
    return used_at_;
  }

  /// Whether Refresh must be called before Read. While one caller does that, the others take what
  /// there is.
  bool ClaimRefresh() {
    const Instant now = Now();
    MutexLock lock(&mutex_);
    used_at_ = now;
    if (loaded_ == nullptr) return true;
    if (now - checked_at_ < kRecheck) return false;
    checked_at_ = now;
    return true;
  }

  /// Blocks. `anyway`: even if no file seems to have changed.
  void Refresh(bool anyway) {
    MutexLock lock_files(&files_mutex_);
    // Of the time before the files are read: a change in between is seen the next time.
    const Stamps stamps = {StampOf(options_.ca_file), StampOf(options_.certificate_file),
                           StampOf(options_.private_key_file)};
    {
      MutexLock lock(&mutex_);
      if (stamps == stamps_ && loaded_ != nullptr && !anyway) return;
    }
    absl::StatusOr<std::shared_ptr<TlsContext>> loaded = TlsContext::Load(options_);
    MutexLock lock(&mutex_);
    const bool changed = stamps != stamps_;
    stamps_ = stamps;
    checked_at_ = Now();
    failure_ = loaded.status();
    if (loaded.ok()) {
      if (loaded_ != nullptr && changed) {
        Log(LogLevel::kInfo, "TLS files for upstreams have changed",
            {{"ca_file", options_.ca_file}, {"certificate_file", options_.certificate_file}});
      }
      loaded_ = *std::move(loaded);
    } else if (loaded_ != nullptr && (changed || anyway)) {
      Log(LogLevel::kWarning, "renewed TLS files cannot be used; the old ones stay in use",
          {{"reason", failure_.message()}});
    }
  }

  WaitResult Read(std::shared_ptr<TlsContext>* context) {
    MutexLock lock(&mutex_);
    *context = loaded_;
    if (loaded_ != nullptr) return {};
    return Failed(Cause::kTlsFailed, std::string(failure_.message()));
  }

 private:
  using Stamps = std::array<FileStamp, 3>;

  const TlsOptions options_;
  Mutex files_mutex_;  // held while files are read, never asked for by a loop
  Mutex mutex_;
  std::shared_ptr<TlsContext> loaded_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // of the last load
  Stamps stamps_ ABSL_GUARDED_BY(mutex_);
  Instant checked_at_ ABSL_GUARDED_BY(mutex_);
  Instant used_at_ ABSL_GUARDED_BY(mutex_) = Now();
};

TlsContexts::TlsContexts(runtime::BlockingPool& threads) : threads_(threads) {}
TlsContexts::~TlsContexts() = default;

WaitResult TlsContexts::Get(const TlsOptions& options, Instant deadline,
                            std::shared_ptr<TlsContext>* context) {
  const std::shared_ptr<Entry> entry = EntryFor(options);
  if (entry->ClaimRefresh()) {
    const runtime::Wake wake =
        threads_.Run([entry] { entry->Refresh(/*anyway=*/false); }, deadline);
    if (wake != runtime::Wake::kReady) return NotReady(wake);
  }
  return entry->Read(context);
}

void TlsContexts::Reload() {
  std::vector<std::shared_ptr<Entry>> entries;
  {
    MutexLock lock(&mutex_);
    entries = entries_;
  }
  for (const auto& entry : entries) entry->Refresh(/*anyway=*/true);
}

std::shared_ptr<TlsContexts::Entry> TlsContexts::EntryFor(const TlsOptions& options) {
  MutexLock lock(&mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&options](const auto& entry) {
    return entry->options() == options;
  });
  if (found != entries_.end()) return *found;
  std::erase_if(entries_, [expired = Now() - kForgetAfter](const auto& entry) {
    return entry->used_at() < expired;
  });
  return entries_.emplace_back(std::make_shared<Entry>(options));
}

}  // namespace sluice::http
