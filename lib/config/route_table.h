#ifndef SLUICE_LIB_CONFIG_ROUTE_TABLE_H_
#define SLUICE_LIB_CONFIG_ROUTE_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/config/config.h"
#include "lib/exchange/message.h"

namespace sluice::config {

/// Where a route leads: a pool, and what the model is called there.
struct Destination {
  const Pool* pool = nullptr;
  absl::string_view model = "";  // "": as the client calls it
  friend bool operator==(const Destination&, const Destination&) = default;
};

/// The routes of a configuration, ready to be looked up. Borrows from it. Immutable.
class RouteTable {
 public:
  /// `config` has passed Validate and outlives the table.
  explicit RouteTable(const Config& config);

  /// Null: there is no such pool.
  const Pool* FindPool(absl::string_view id) const;

  /// The route for `model` ("" when the request names none), or null: an exact name before
  /// patterns, more literal bytes before fewer, more header matches before fewer.
  const Route* Find(absl::string_view model, const HeaderList& headers) const;

  /// One of the route's targets, by its weight, then its fallbacks in order; what
  /// comes twice counts once. The same `request` hash leads to the same target, and when weights
  /// change, most go on leading to it.
  std::vector<Destination> DestinationsOf(const Route& route, uint64_t request) const;

  /// The names by which models can be asked for, as far as the configuration tells: those of
  /// routes, and those of pools (`Pool.models`) that patterns lead to. Sorted.
  const std::vector<std::string>& models() const { return models_; }

 private:
  void CollectModels(const Config& config);

  std::map<absl::string_view, const Pool*> pools_;
  std::map<absl::string_view, std::vector<const Route*>> exact_;  // the first that matches counts
  std::vector<const Route*> patterns_;                            // the same
  std::vector<std::string> models_;
};

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_ROUTE_TABLE_H_
