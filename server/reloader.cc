#include "server/reloader.h"

#include <chrono>
#include <pthread.h>
#include <utility>

#include "lib/base/log.h"

namespace sluice::server {
namespace {

constexpr Duration kRound = std::chrono::seconds(1);
constexpr int kRoundsPerPoolKeys = 5;

}  // namespace

Reloader::Reloader(config::Store& store, admission::ClientKeysFile* client_keys)
    : store_(store), client_keys_(client_keys), thread_([this] { Run(); }) {}

Reloader::~Reloader() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
  }
  stopped_.NotifyAll();
  thread_.join();
}

void Reloader::Run() {
  pthread_setname_np(pthread_self(), "reloader");
  for (int round = 1;; ++round) {
    {
      MutexLock lock(&mutex_);
      const auto stopping = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return stopping_; };
      if (stopped_.WaitFor(&mutex_, kRound, stopping)) return;
    }
    if (client_keys_ != nullptr) client_keys_->Reload();
    if (round % kRoundsPerPoolKeys == 0) ReloadPoolKeys();
  }
}

void Reloader::ReloadPoolKeys() {
  const absl::StatusOr<bool> reloaded = store_.ReloadSecrets();
  std::string complaint = reloaded.ok() ? "" : std::string(reloaded.status().message());
  if (!complaint.empty() && complaint != complaint_) {
    Log(LogLevel::kWarning, "keys of pools cannot be read again; those before stay in use",
        {{"reason", complaint}});
  }
  complaint_ = std::move(complaint);
  if (reloaded.ok() && *reloaded) {
    Log(LogLevel::kInfo, "keys of pools changed", {{"generation", store_.Current()->generation()}});
  }
}

}  // namespace sluice::server
