#ifndef SLUICE_LIB_HTTP_UPSTREAM_POOL_H_
#define SLUICE_LIB_HTTP_UPSTREAM_POOL_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lib/base/clock.h"
#include "lib/exchange/upstream_address.h"
#include "lib/http/upstream_socket.h"
#include "lib/runtime/loop.h"

namespace sluice::http {

/// One loop's idle keep-alive connections to upstreams, by where they go and how. Confined to the
/// loop's thread.
class UpstreamPool {
 public:
  /// Shorter than engines keep theirs (5 s in vLLM and SGLang): a connection taken from here is
  /// rarely one the upstream is just closing.
  static constexpr Duration kIdleLimit = std::chrono::seconds(2);
  static constexpr size_t kMaxIdlePerAddress = 64;

  /// A connection that was silent since it was put, or null.
  std::unique_ptr<UpstreamSocket> Take(const UpstreamAddress& address);
  void Put(const UpstreamAddress& address, std::unique_ptr<UpstreamSocket> socket);
  /// Closes all, and everything that is put from now on.
  void Close();

  // Thread-safe:

  size_t size() const { return size_.load(std::memory_order_relaxed); }
  /// Fibers it runs: one while it holds something.
  size_t fibers() const { return sweeping_.load(std::memory_order_relaxed) ? 1 : 0; }

 private:
  struct Idle {
    std::unique_ptr<UpstreamSocket> socket;
    Instant since;
  };

  /// Of what makes one connection as good as another: all but the path and the query.
  struct Hash {
    size_t operator()(const UpstreamAddress& address) const;
  };
  struct Same {
    bool operator()(const UpstreamAddress& a, const UpstreamAddress& b) const;
  };

  /// A fiber that lives while there is something to expire.
  void Sweep();

  std::unordered_map<UpstreamAddress, std::vector<Idle>, Hash, Same> idle_;  // oldest first
  std::atomic<size_t> size_{0};                                              // of all of idle_
  std::atomic<bool> sweeping_{false};            // a fiber does, or is about to
  std::optional<runtime::Interrupter> sweeper_;  // while it does
  bool closed_ = false;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_UPSTREAM_POOL_H_
