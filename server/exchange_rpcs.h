#ifndef SLUICE_SERVER_EXCHANGE_RPCS_H_
#define SLUICE_SERVER_EXCHANGE_RPCS_H_

#include <memory>
#include <string>

#include "grpcpp/support/status.h"

#include "lib/base/clock.h"
#include "lib/exchange/registry.h"
#include "server/audit.h"
#include "server/caller.h"
#include "sluice/control/v1/control_service.pb.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::server {

/// The calls about exchanges; their contract is in the proto. Thread-safe. What it is given must
/// outlive it.
class ExchangeRpcs {
 public:
  ExchangeRpcs(const Clock& clock, ExchangeRegistry& registry, AuditLog& audit)
      : clock_(clock), registry_(registry), audit_(audit) {}

  grpc::Status List(const control::v1::ListExchangesRequest& request,
                    control::v1::ListExchangesResponse* response) const;
  grpc::Status Get(const control::v1::GetExchangeRequest& request,
                   control::v1::Exchange* response) const;
  grpc::Status Cancel(const Caller& caller, const control::v1::CancelExchangeRequest& request,
                      control::v1::Exchange* response);
  /// What a TailStream needs: the exchange, and a tap on it.
  grpc::Status Tail(const Caller& caller, const control::v1::TailExchangeRequest& request,
                    ExchangeView* view, std::shared_ptr<Tap>* tap);

 private:
  grpc::Status Find(const std::string& id, ExchangeView* view) const;
  /// As Find, for what `caller` is to do; that there is no such exchange is audited.
  grpc::Status FindFor(const Caller& caller, absl::string_view action, const std::string& id,
                       ExchangeView* view);

  const Clock& clock_;
  ExchangeRegistry& registry_;
  AuditLog& audit_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_EXCHANGE_RPCS_H_
