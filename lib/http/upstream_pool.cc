#include "lib/http/upstream_pool.h"

#include <iterator>
#include <utility>

namespace sluice::http {
namespace {

Instant Now() { return std::chrono::steady_clock::now(); }

}  // namespace

std::unique_ptr<runtime::Socket> UpstreamPool::Take(const std::string& authority) {
  const auto entry = idle_.find(authority);
  if (entry == idle_.end()) return nullptr;
  std::vector<Idle>& idle = entry->second;
  std::unique_ptr<runtime::Socket> socket;
  const Instant now = Now();
  while (!idle.empty() && socket == nullptr) {
    Idle last = std::move(idle.back());
    idle.pop_back();
    --size_;
    // Readable while idle: the upstream closed it, or sent bytes nobody asked for.
    if (!last.socket->readable() && now - last.since < kIdleLimit) socket = std::move(last.socket);
  }
  if (idle.empty()) idle_.erase(entry);
  return socket;
}

void UpstreamPool::Put(const std::string& authority, std::unique_ptr<runtime::Socket> socket) {
  if (closed_) return;
  std::vector<Idle>& idle = idle_[authority];
  if (idle.size() == kMaxIdlePerAuthority) return;
  idle.push_back({std::move(socket), Now()});
  ++size_;
  if (sweeping_) return;
  sweeping_ = runtime::Loop::Current()->Spawn([this] { Sweep(); });
}

void UpstreamPool::Sweep() {
  sweeper_ = runtime::Interrupter::Arm();
  while (!idle_.empty() &&
         runtime::SleepUntil(Now() + kIdleLimit / 2) == runtime::Wake::kDeadline) {
    const Instant now = Now();
    for (auto entry = idle_.begin(); entry != idle_.end();) {
      size_ -= std::erase_if(entry->second, [now](const Idle& idle) {
        return idle.socket->readable() || now - idle.since >= kIdleLimit;
      });
      entry = entry->second.empty() ? idle_.erase(entry) : std::next(entry);
    }
  }
  sweeper_.reset();
  sweeping_ = false;
}

void UpstreamPool::Close() {
  closed_ = true;
  idle_.clear();
  size_ = 0;
  if (sweeper_.has_value()) sweeper_->Fire();
}

}  // namespace sluice::http
