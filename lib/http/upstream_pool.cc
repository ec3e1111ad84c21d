#include "lib/http/upstream_pool.h"

#include <iterator>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"

namespace sluice::http {
namespace {

Instant Now() { return std::chrono::steady_clock::now(); }

}  // namespace

size_t UpstreamPool::Hash::operator()(const UpstreamAddress& address) const {
  return absl::HashOf(address.uri.authority, address.uri.socket_path, address.ip);
}

bool UpstreamPool::Same::operator()(const UpstreamAddress& a, const UpstreamAddress& b) const {
  const auto key = [](const UpstreamAddress& of) {
    return std::tie(of.uri.scheme, of.uri.authority, of.uri.socket_path, of.ip);
  };
  return key(a) == key(b) && a.tls == b.tls;
}

std::unique_ptr<UpstreamSocket> UpstreamPool::Take(const UpstreamAddress& address) {
  const auto entry = idle_.find(address);
  if (entry == idle_.end()) return nullptr;
  std::vector<Idle>& idle = entry->second;
  std::unique_ptr<UpstreamSocket> socket;
  const Instant now = Now();
  while (!idle.empty() && socket == nullptr) {
    Idle last = std::move(idle.back());
    idle.pop_back();
    --size_;
    // Not silent: the upstream closed it, or sent bytes nobody asked for.
    if (now - last.since < kIdleLimit && last.socket->IsSilent()) socket = std::move(last.socket);
  }
  return socket;
}

void UpstreamPool::Put(const UpstreamAddress& address, std::unique_ptr<UpstreamSocket> socket) {
  if (closed_) return;
  std::vector<Idle>& idle = idle_[address];
  if (idle.size() == kMaxIdlePerAddress) return;
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
        return !idle.socket->IsSilent() || now - idle.since >= kIdleLimit;
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
