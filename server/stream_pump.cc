#include "server/stream_pump.h"

#include <algorithm>
#include <pthread.h>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sluice::server {
namespace {

grpc::Status ShuttingDown() {
  return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down");
}

}  // namespace

StreamPump::StreamPump(const Clock& clock, Options options)
    : clock_(clock), options_(std::move(options)), thread_([this] { Run(); }) {}

StreamPump::~StreamPump() {
  if (thread_.joinable()) Shutdown();
}

grpc::Status StreamPump::Reserve() {
  MutexLock lock(&mutex_);
  if (closing_) return ShuttingDown();
  if (calls_.size() + reserved_ >= options_.max_calls) {
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                        absl::StrCat(options_.max_calls, " ", options_.calls,
                                     " are served already, which is the limit"));
  }
  ++reserved_;
  return grpc::Status::OK;
}

void StreamPump::GiveBack() {
  MutexLock lock(&mutex_);
  --reserved_;
}

void StreamPump::Add(std::shared_ptr<PumpedCall> call) {
  bool closing;
  {
    MutexLock lock(&mutex_);
    --reserved_;
    calls_.push_back(call);
    closing = closing_;
  }
  if (closing) return call->Conclude(ShuttingDown());
  changed_.NotifyAll();
  call->Pump(clock_.Now());
}

void StreamPump::Remove(const PumpedCall* call) {
  std::shared_ptr<PumpedCall> last_reference;  // given up without the mutex
  MutexLock lock(&mutex_);
  const auto found =
      std::find_if(calls_.begin(), calls_.end(), [call](const auto& c) { return c.get() == call; });
  if (found == calls_.end()) return;
  last_reference = std::move(*found);
  calls_.erase(found);
}

void StreamPump::Shutdown() {
  std::vector<std::shared_ptr<PumpedCall>> calls;
  {
    MutexLock lock(&mutex_);
    closing_ = true;
    calls = calls_;
  }
  changed_.NotifyAll();
  thread_.join();
  for (const auto& call : calls) call->Conclude(ShuttingDown());
}

void StreamPump::CountDropped() {
  MutexLock lock(&mutex_);
  ++dropped_;
}

int64_t StreamPump::dropped() const {
  MutexLock lock(&mutex_);
  return dropped_;
}

size_t StreamPump::calls() const {
  MutexLock lock(&mutex_);
  return calls_.size();
}

void StreamPump::Run() {
  pthread_setname_np(pthread_self(), absl::StrCat("sluice-", options_.calls).c_str());
  while (true) {
    {
      MutexLock lock(&mutex_);
      changed_.Wait(&mutex_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return closing_ || !calls_.empty();
      });
      if (closing_) return;
    }
    if (options_.await_news) options_.await_news();

    std::vector<std::shared_ptr<PumpedCall>> calls;
    {
      MutexLock lock(&mutex_);
      calls = calls_;
    }
    const Instant now = clock_.Now();
    for (const auto& call : calls) call->Pump(now);
    calls.clear();

    MutexLock lock(&mutex_);
    if (changed_.WaitFor(&mutex_, options_.interval,
                         [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return closing_; })) {
      return;
    }
  }
}

}  // namespace sluice::server
