#include "server/metrics_page.h"

#include <memory>

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

void AddEndpoints(const MetricsSources& sources, MetricsText& text) {
  const auto readings = sources.endpoints.ReadAll();
  const auto family = [&](auto begin, auto value) {
    begin();
    for (const auto& reading : readings) {
      text.Sample({{"endpoint", reading.name}}, static_cast<double>(value(reading)));
    }
  };
  family([&] { text.Gauge("sluice_endpoint_in_flight", "Attempts that run."); },
         [](const auto& reading) { return reading.in_flight; });
  family([&] { text.Counter("sluice_endpoint_attempts_total", "Attempts."); },
         [](const auto& reading) { return reading.attempts; });
  family([&] { text.Counter("sluice_endpoint_failed_attempts_total", "Attempts that failed."); },
         [](const auto& reading) { return reading.failed_attempts; });
  family([&] { text.Gauge("sluice_endpoint_draining", "Whether it gets no new attempts."); },
         [](const auto& reading) { return reading.draining() ? 1 : 0; });
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
  AddEndpoints(sources, text);
  return text.Take();
}

}  // namespace sluice::server
