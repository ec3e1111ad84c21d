#include "lib/http/upstream_client.h"

#include <utility>

#include "lib/http/upstream_connection.h"

namespace sluice::http {

UpstreamClient::UpstreamClient(const std::vector<std::unique_ptr<runtime::Loop>>& loops,
                               runtime::BlockingPool& threads)
    : dialer_(threads) {
  for (const auto& loop : loops) pools_[loop.get()] = std::make_unique<UpstreamPool>();
}

UpstreamClient::~UpstreamClient() = default;

OpenResult UpstreamClient::Open(const UpstreamAddress& address, const OutboundRequest& request,
                                Instant deadline) {
  auto connection = std::make_unique<UpstreamConnection>(address, request, dialer_,
                                                         *pools_.at(runtime::Loop::Current()));
  WaitResult connected = connection->Connect(deadline);
  if (connected.kind != WaitResult::kOk) return {nullptr, std::move(connected)};
  return {std::move(connection), {}};
}

void UpstreamClient::ClosePools() {
  for (const auto& [loop, pool] : pools_) loop->Post([pool = pool.get()] { pool->Close(); });
}

UpstreamClient::Pooled UpstreamClient::pooled() const {
  Pooled all;
  for (const auto& [loop, pool] : pools_) {
    all.connections += pool->size();
    all.fibers += pool->fibers();
  }
  return all;
}

}  // namespace sluice::http
