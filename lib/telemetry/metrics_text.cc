#include "lib/telemetry/metrics_text.h"

#include <chrono>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace sluice::telemetry {
namespace {

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// As short as it goes without losing anything of a count.
std::string Number(double value) { return absl::StrFormat("%.15g", value); }

}  // namespace

void MetricsText::Sample(Labels labels, double value) { Line("", labels, value); }

void MetricsText::Distribution(absl::string_view name, absl::string_view help,
                               const Histogram::Reading& reading) {
  Begin(name, help, "histogram");
  uint64_t cumulative = 0;
  for (size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    cumulative += reading.counts[i];
    Line("_bucket", {{"le", Number(Seconds(Histogram::kBounds[i]))}},
         static_cast<double>(cumulative));
  }
  const auto count = static_cast<double>(reading.count());
  Line("_bucket", {{"le", "+Inf"}}, count);
  Line("_sum", {}, Seconds(reading.sum));
  Line("_count", {}, count);
}

void MetricsText::Begin(absl::string_view name, absl::string_view help, absl::string_view type) {
  name_ = std::string(name);
  absl::StrAppend(&text_, "# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

void MetricsText::Line(absl::string_view suffix, Labels labels, double value) {
  absl::StrAppend(&text_, name_, suffix);
  absl::string_view before = "{";
  for (const auto& [label, text] : labels) {
    absl::StrAppend(&text_, before, label, "=\"",
                    absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}),
                    "\"");
    before = ",";
  }
  absl::StrAppend(&text_, labels.size() > 0 ? "} " : " ", Number(value), "\n");
}

}  // namespace sluice::telemetry
