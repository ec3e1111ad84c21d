#ifndef SLUICE_TESTS_INTEGRATION_STEADY_CLIENTS_H_
#define SLUICE_TESTS_INTEGRATION_STEADY_CLIENTS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/raw_client.h"

namespace sluice::testing {

/// Clients that send the same request again and again, each on one connection, from construction to
/// Stop.
class SteadyClients {
 public:
  SteadyClients(uint16_t port, std::string request, int count = 4) : request_(std::move(request)) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this, port] { Run(port); });
  }
  ~SteadyClients() { Stop(); }
  SteadyClients(const SteadyClients&) = delete;
  SteadyClients& operator=(const SteadyClients&) = delete;

  /// Waits until some more requests were served.
  bool WaitForMore() {
    const int before = served_;
    return Eventually([&] { return served_ > before + 4; });
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  /// Requests that got no whole answer of status 200.
  int failed() const { return failed_; }

 private:
  void Run(uint16_t port) {
    absl::StatusOr<RawClient> client = RawClient::Connect(port);
    while (!stop_) {
      const bool sent = client.ok() && client->Send(request_).ok();
      const RawResponse response =
          sent ? client->ReadResponse().value_or(RawResponse()) : RawResponse();
      ++(sent && response.status == 200 && response.complete() ? served_ : failed_);
    }
  }

  const std::string request_;
  std::atomic<bool> stop_{false};
  std::atomic<int> served_{0};
  std::atomic<int> failed_{0};
  std::vector<std::thread> threads_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_STEADY_CLIENTS_H_
