#include "server/metrics_page.h"

#include <chrono>
#include <memory>
#include <vector>

#include "lib/exchange/cause.h"
#include "lib/telemetry/metrics_text.h"

namespace sluice::server {
namespace {

using telemetry::MetricsText;

void AddExchanges(const MetricsSources& sources, MetricsText& text) {
  const ExchangeRegistry::Books books = sources.registry.books();
  text.Counter("sluice_exchanges_total", "Exchanges that finished, by why they ended.");
  for (const CauseInfo& info : AllCauses()) {
    const auto found = books.finished.find(info.cause);
    text.Sample({{"cause", info.label}},
                found == books.finished.end() ? 0 : static_cast<double>(found->second));
  }
  text.Gauge("sluice_exchanges_in_flight", "Exchanges that run.");
  text.Sample({}, static_cast<double>(books.running));
  text.Distribution("sluice_exchange_duration_seconds", "From the request's head to the end.",
                    sources.timings.duration().Read());
  text.Distribution("sluice_time_to_first_frame_seconds",
                    "From the request's head to the first valid frame handed to the client.",
                    sources.timings.first_frame().Read());
  text.Distribution("sluice_cancel_latency_seconds",
                    "From a cancellation until the upstream's connection was closed.",
                    sources.timings.cancel_latency().Read());
}

template <typename Reading>
struct Family {
  const char* name;
  const char* help;
  bool counter;
  double (*value)(const Reading&);
};

void AddEndpoints(const MetricsSources& sources, MetricsText& text) {
  using Reading = upstream::EndpointTable::Reading;
  using upstream::Health;
  static constexpr Family<Reading> kFamilies[] = {
      {"sluice_endpoint_in_flight", "Attempts that run.", false,
       [](const Reading& r) { return static_cast<double>(r.in_flight); }},
      {"sluice_endpoint_attempts_total", "Attempts.", true,
       [](const Reading& r) { return static_cast<double>(r.attempts); }},
      {"sluice_endpoint_failed_attempts_total", "Attempts that failed.", true,
       [](const Reading& r) { return static_cast<double>(r.failed_attempts); }},
      {"sluice_endpoint_draining", "Whether an operator lets it get no new attempts.", false,
       [](const Reading& r) { return r.draining() ? 1.0 : 0.0; }},
      {"sluice_endpoint_ejected", "Whether it gets none because it fails; 0.5: it is on trial.",
       false,
       [](const Reading& r) {
         return r.health == Health::State::kEjected ? 1.0
                : r.health == Health::State::kTrial ? 0.5
                                                    : 0.0;
       }},
      {"sluice_endpoint_ejections_total", "How often it was ejected.", true,
       [](const Reading& r) { return static_cast<double>(r.ejections); }},
      {"sluice_endpoint_first_frame_seconds", "The latest peak of its time to first frame, fading.",
       false,
       [](const Reading& r) { return std::chrono::duration<double>(r.first_frame).count(); }},
  };
  const std::vector<Reading> readings = sources.endpoints.ReadAll();
  for (const Family<Reading>& family : kFamilies) {
    family.counter ? text.Counter(family.name, family.help) : text.Gauge(family.name, family.help);
    for (const Reading& reading : readings) {
      text.Sample({{"endpoint", reading.name}}, family.value(reading));
    }
  }
}

void AddPools(const MetricsSources& sources, MetricsText& text) {
  const std::shared_ptr<const config::Snapshot> config = sources.config.Current();
  const PoolBooks& books = sources.pools;
  const auto family = [&](const char* name, const char* help, auto value) {
    text.Gauge(name, help);
    for (const config::Pool& pool : config->config().pools) {
      text.Sample({{"pool", pool.id}}, static_cast<double>(value(pool)));
    }
  };
  family("sluice_pool_in_flight", "Exchanges that have a place in the pool.",
         [&](const config::Pool& pool) { return books.gate.pools.Read(pool.id); });
  family("sluice_pool_waiting", "Requests that wait for a place.",
         [&](const config::Pool& pool) { return books.gate.queues.Depth(pool.id); });
  family("sluice_pool_retry_tokens", "Tokens of the retry budget.",
         [&](const config::Pool& pool) { return books.retry_budgets.Read(pool); });
  text.Gauge("sluice_key_usable", "Whether a key may be used now.");
  for (const config::Pool& pool : config->config().pools) {
    for (const upstream::KeyRing::Reading& key : books.keys.Read(*config, pool)) {
      text.Sample({{"pool", pool.id}, {"key", key.id}},
                  key.state == KeyStateChanged::State::kActive ? 1 : 0);
    }
  }
}

void AddUsage(const MetricsSources& sources, MetricsText& text) {
  const auto reading = sources.usage.Read({.model = true, .pool = true});
  text.Counter("sluice_tokens_total", "Tokens that upstreams reported.");
  for (const ledger::UsageTotals::Row& row : reading.rows) {
    text.Sample({{"pool", row.names.pool}, {"model", row.names.model}, {"kind", "prompt"}},
                static_cast<double>(row.sums.prompt_tokens));
    text.Sample({{"pool", row.names.pool}, {"model", row.names.model}, {"kind", "completion"}},
                static_cast<double>(row.sums.completion_tokens));
  }
}

void AddGateway(const MetricsSources& sources, MetricsText& text) {
  const std::shared_ptr<const config::Snapshot> config = sources.config.Current();
  text.Gauge("sluice_build_info", "The version that runs.");
  text.Sample({{"version", sources.version}}, 1);
  text.Gauge("sluice_config_generation", "The version of the configuration in force.");
  text.Sample({}, static_cast<double>(config->generation()));
  text.Gauge("sluice_draining", "Whether the gateway takes no new requests.");
  text.Sample({}, sources.data_plane.draining() ? 1 : 0);
  text.Counter("sluice_events_total", "Events published.");
  text.Sample({}, static_cast<double>(sources.hub.stats().published));
  const DataPlane::Resources held = sources.data_plane.resources();
  text.Gauge("sluice_connections", "Connections that are open, by their other end.");
  text.Sample({{"peer", "client"}}, static_cast<double>(held.client_connections));
  text.Sample({{"peer", "admin"}}, static_cast<double>(held.admin_connections));
  text.Sample({{"peer", "upstream_idle"}}, static_cast<double>(held.pooled_connections));
  text.Gauge("sluice_fibers", "Fibers on the event loops.");
  text.Sample({}, static_cast<double>(held.fibers));
}

}  // namespace

std::string MetricsPage(const MetricsSources& sources) {
  MetricsText text;
  AddGateway(sources, text);
  AddExchanges(sources, text);
  AddPools(sources, text);
  AddEndpoints(sources, text);
  AddUsage(sources, text);
  return text.Take();
}

}  // namespace sluice::server
