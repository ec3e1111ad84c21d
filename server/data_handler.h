#ifndef SLUICE_SERVER_DATA_HANDLER_H_
#define SLUICE_SERVER_DATA_HANDLER_H_

#include <memory>
#include <utility>

#include "lib/config/store.h"
#include "lib/http/handler.h"
#include "lib/relay/proxy.h"

namespace sluice::server {

/// Where the HTTP server and the relay core meet: the data port. Both arguments must outlive it.
class DataHandler final : public http::Handler {
 public:
  DataHandler(const config::Store& config, relay::Proxy& proxy) : config_(config), proxy_(proxy) {}

  size_t max_body_bytes() const override {
    return config_.Current()->config().limits.max_body_bytes;
  }

  std::unique_ptr<Answer> Serve(Request request, Instant accepted,
                                Cancellation& cancellation) override {
    return proxy_.Serve(std::move(request), accepted, cancellation);
  }

  std::unique_ptr<Answer> Refuse(Cause cause, absl::string_view message,
                                 absl::string_view client_address, Instant accepted,
                                 Cancellation& cancellation) override {
    return proxy_.Refuse(cause, message, client_address, accepted, cancellation);
  }

 private:
  const config::Store& config_;
  relay::Proxy& proxy_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_DATA_HANDLER_H_
