#include "server/reloader.h"

#include <chrono>
#include <pthread.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/base/log.h"

namespace sluice::server {
namespace {

constexpr Duration kRound = std::chrono::seconds(1);
constexpr int kRoundsPerPoolKeys = 5;

}  // namespace

Reloader::Reloader(config::Store& store, admission::ClientKeysFile* client_keys,
                   admission::WaitQueues& queues)
    : store_(store), client_keys_(client_keys), queues_(queues), thread_([this] { Run(); }) {}

Reloader::~Reloader() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void Reloader::ReloadNow() {
  MutexLock lock(&mutex_);
  asked_ = true;
  changed_.NotifyAll();
  changed_.Wait(&mutex_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !asked_; });
}

void Reloader::Run() {
  pthread_setname_np(pthread_self(), "reloader");
  for (int round = 1;; ++round) {
    bool asked = false;
    {
      MutexLock lock(&mutex_);
      changed_.WaitFor(&mutex_, kRound,
                       [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_ || asked_; });
      if (stopping_) return;
      asked = asked_;
    }
    queues_.SignalAll();
    if (asked) complaints_.clear();  // to be told again
    if (client_keys_ != nullptr) client_keys_->Reload(/*anyway=*/asked);
    if (asked || round % kRoundsPerPoolKeys == 0) ReloadPoolKeys();
    if (!asked) continue;
    MutexLock lock(&mutex_);
    asked_ = false;
    changed_.NotifyAll();
  }
}

void Reloader::ReloadPoolKeys() {
  config::Store::Unreadable unreadable;
  const bool changed = store_.ReloadSecrets(&unreadable);
  std::set<std::string> complaints;
  for (const auto& [pool, key, violation] : unreadable.keys) {
    std::string complaint = absl::StrCat(pool.id, "/", key.id, ": ", violation.reason);
    if (complaints_.count(complaint) == 0) {
      Log(LogLevel::kWarning,
          unreadable.of->SecretOf(pool, key).empty()
              ? "a key of a pool cannot be read; it is not used until it can be"
              : "a key of a pool cannot be read; it keeps the value it had",
          {{"pool", pool.id}, {"key", key.id}, {"reason", violation.reason}});
    }
    complaints.insert(std::move(complaint));
  }
  complaints_ = std::move(complaints);
  if (changed) {
    Log(LogLevel::kInfo, "keys of pools changed", {{"generation", store_.Current()->generation()}});
  }
}

}  // namespace sluice::server
