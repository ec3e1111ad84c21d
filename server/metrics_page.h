#ifndef SLUICE_SERVER_METRICS_PAGE_H_
#define SLUICE_SERVER_METRICS_PAGE_H_

#include <string>

#include "absl/strings/string_view.h"

#include "lib/config/store.h"
#include "lib/events/hub.h"
#include "lib/exchange/registry.h"
#include "lib/ledger/usage_totals.h"
#include "lib/telemetry/exchange_timings.h"
#include "lib/upstream/endpoint_table.h"
#include "server/data_plane.h"
#include "server/endpoint_rpcs.h"

namespace sluice::server {

/// What the metrics are read from; all of it thread-safe.
struct MetricsSources {
  absl::string_view version;
  const config::Store& config;
  const ExchangeRegistry& registry;
  const events::Hub& hub;
  const telemetry::ExchangeTimings& timings;
  upstream::EndpointTable& endpoints;
  PoolBooks pools;
  const ledger::UsageTotals& usage;
  const DataPlane& data_plane;
};

/// The metrics as they are now, in Prometheus' text format. Labels are of the configuration and of
/// the table of causes, and models within the bound of `usage`: clients cannot make them many.
std::string MetricsPage(const MetricsSources& sources);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_METRICS_PAGE_H_
