#ifndef SLUICE_SERVER_ADMIN_HANDLER_H_
#define SLUICE_SERVER_ADMIN_HANDLER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lib/http/handler.h"

namespace sluice::server {

/// The admin port, for probes: `/healthz` is 200 while the process serves; `/readyz` is 200 while
/// it wants new requests, 503 once it drains; `/metrics` is for Prometheus. Anything else is 404.
/// Thread-safe.
class AdminHandler final : public http::Handler {
 public:
  /// `metrics` makes the page; it is called on the event loops and must not wait.
  explicit AdminHandler(std::function<std::string()> metrics) : metrics_(std::move(metrics)) {}

  void SetReady(bool ready) { ready_ = ready; }

  size_t max_body_bytes() const override { return 0; }
  std::unique_ptr<Answer> Serve(Request request, Instant accepted,
                                Cancellation& cancellation) override;
  std::unique_ptr<Answer> Refuse(Cause cause, absl::string_view message,
                                 absl::string_view client_address, Instant accepted,
                                 Cancellation& cancellation) override;

 private:
  const std::function<std::string()> metrics_;
  std::atomic<bool> ready_{true};
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_ADMIN_HANDLER_H_
