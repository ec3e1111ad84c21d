#ifndef SLUICE_LIB_TELEMETRY_METRICS_TEXT_H_
#define SLUICE_LIB_TELEMETRY_METRICS_TEXT_H_

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

#include "lib/telemetry/histogram.h"

namespace sluice::telemetry {

/// Writes metrics in Prometheus' text format, version 0.0.4. Thread-compatible.
class MetricsText {
 public:
  using Labels = std::initializer_list<std::pair<absl::string_view, absl::string_view>>;

  /// What the samples that follow belong to. A counter's name ends in `_total`.
  void Counter(absl::string_view name, absl::string_view help) { Begin(name, help, "counter"); }
  void Gauge(absl::string_view name, absl::string_view help) { Begin(name, help, "gauge"); }

  /// One sample of the family begun last.
  void Sample(Labels labels, double value);

  /// A family of one histogram, in seconds.
  void Distribution(absl::string_view name, absl::string_view help,
                    const Histogram::Reading& reading);

  std::string Take() { return std::move(text_); }

 private:
  void Begin(absl::string_view name, absl::string_view help, absl::string_view type);
  void Line(absl::string_view suffix, Labels labels, double value);

  std::string text_;
  std::string name_;  // of the family
};

}  // namespace sluice::telemetry

#endif  // SLUICE_LIB_TELEMETRY_METRICS_TEXT_H_
