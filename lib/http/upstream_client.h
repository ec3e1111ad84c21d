#ifndef SLUICE_LIB_HTTP_UPSTREAM_CLIENT_H_
#define SLUICE_LIB_HTTP_UPSTREAM_CLIENT_H_

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/exchange/seams.h"
#include "lib/http/upstream_dialer.h"
#include "lib/http/upstream_pool.h"
#include "lib/runtime/blocking.h"
#include "lib/runtime/loop.h"

namespace sluice::http {

/// HTTP/1.1 to upstreams over TCP, TLS and Unix sockets, from the fibers of `loops`, which must
/// outlive it. Waits heed the fiber's interrupts: the server fires them when the client leaves or
/// the exchange is cancelled.
class UpstreamClient final : public Transport {
 public:
  /// `threads`: for name look-ups, and to read the files of TLS; must outlive it.
  UpstreamClient(const std::vector<std::unique_ptr<runtime::Loop>>& loops,
                 runtime::BlockingPool& threads);
  /// The loops have ended.
  ~UpstreamClient() override;

  OpenResult Open(const UpstreamAddress& address, const OutboundRequest& request,
                  Instant deadline) override;

  /// Reads the files of TLS again now. Blocks. Thread-safe.
  void ReloadTls() { dialer_.ReloadTls(); }

  /// Closes pooled connections now, and others once their answer ended. Thread-safe.
  void ClosePools();

  /// What all pools hold, and the fibers they run. Thread-safe.
  struct Pooled {
    size_t connections = 0;
    size_t fibers = 0;
  };
  Pooled pooled() const;

  /// Connections that exist: with an answer on them, in a pool, or being made. Thread-safe.
  size_t open() const { return dialer_.open(); }

 private:
  UpstreamDialer dialer_;  // outlives what it made
  std::unordered_map<runtime::Loop*, std::unique_ptr<UpstreamPool>>
      pools_;  // fixed after construction
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_UPSTREAM_CLIENT_H_
