#ifndef SLUICE_LIB_RELAY_INTAKE_H_
#define SLUICE_LIB_RELAY_INTAKE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/config/snapshot.h"
#include "lib/dialect/dialect.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/exchange.h"
#include "lib/exchange/message.h"
#include "lib/relay/allowance.h"
#include "lib/relay/proxy.h"

/// The first phases of an exchange, from accept to route: who asks for what, whether they may, and
/// where it goes.
namespace sluice::relay {

/// A request that no attempt is made for.
struct Refusal {
  Cause cause;
  std::string message;      // for the client
  HeaderList headers = {};  // of the answer, beside those every error has
  bool for_good = false;    // to come again is no use: the answer does not say when to
};

/// A request on its way to its pool.
struct Intake {
  Request request;
  ExchangeInfo info;  // handed over when the exchange starts
  dialect::Dialect dialect = dialect::Dialect::kNone;
  std::shared_ptr<const config::Snapshot> snapshot;
  const config::Principal* policy = nullptr;      // set by Authenticate
  std::optional<Allowance> allowance;             // set by Admit, unless it refuses
  dialect::RequestPeek peek;                      // set by Route, of a request that names a model
  std::vector<config::Destination> destinations;  // the same; not empty unless it refuses
};

Intake Accept(const ProxyDeps& deps, Request request);
/// The client's key says who it is. Without a keys file anybody is "anonymous".
std::optional<Refusal> Authenticate(const ProxyDeps& deps, Intake& intake);
/// Limits that do not depend on the model. `in_flight`: this exchange included. The list of models
/// is no request of the principal's that its limit counts: the gateway has it at hand, and programs
/// ask for it to see whether they may call at all.
std::optional<Refusal> Admit(const ProxyDeps& deps, int in_flight, Intake& intake);
/// Whether the gateway answers it itself, with the models of its routes.
bool AsksForModels(const Intake& intake);
/// Finds the destinations; then the limits that depend on the model.
std::optional<Refusal> Route(const ProxyDeps& deps, Intake& intake);

/// The models that the principal may use, of those that routes name.
std::vector<std::string> ModelsFor(const Intake& intake);

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_INTAKE_H_
