#include "admin/leak_readings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "admin/escape.h"
#include "admin/text_table.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

LeakReading& Named(const std::string& name, const std::string& source,
                   std::vector<LeakReading>* readings) {
  const auto found = std::find_if(readings->begin(), readings->end(),
                                  [&](const LeakReading& one) { return one.name == name; });
  if (found != readings->end()) return *found;
  return readings->emplace_back(LeakReading{name, source, {}});
}

/// "12 = 12", "13 - 12 = +1".
std::string CountText(const LeakReading::Count& count) {
  if (count.difference() == 0) return absl::StrCat(count.booked, " = ", count.counted);
  return absl::StrFormat("%d - %d = %+d", count.booked, count.counted, count.difference());
}

}  // namespace

bool LeakReading::leaks() const {
  const auto all = [this](auto holds) { return std::all_of(counts.begin(), counts.end(), holds); };
  return !counts.empty() && (all([](const Count& count) { return count.difference() > 0; }) ||
                             all([](const Count& count) { return count.difference() < 0; }));
}

bool LeakReading::differs() const {
  return std::any_of(counts.begin(), counts.end(),
                     [](const Count& count) { return count.difference() != 0; });
}

std::vector<LeakReading> LeakReadings(absl::Span<const v1::CheckLeaksResponse> checks) {
  std::vector<LeakReading> readings;
  for (const v1::CheckLeaksResponse& check : checks) {
    int64_t accounted = check.live();
    for (const auto& closed : check.closed()) accounted += closed.exchanges();
    Named("exchanges opened", "those that live and those closed, by cause", &readings)
        .counts.push_back({check.opened(), accounted});
    for (const auto& reading : check.readings()) {
      Named(reading.name(), reading.source(), &readings)
          .counts.push_back({reading.booked(), reading.counted()});
    }
  }
  return readings;
}

std::string LeakTable(absl::Span<const LeakReading> readings,
                      absl::Span<const absl::string_view> times) {
  std::vector<TextTable::Column> columns = {{"BOOKED - COUNTED"}};
  for (const absl::string_view time : times) columns.push_back({time, true});
  columns.push_back({"VERDICT"});
  columns.push_back({"COUNTED AS"});
  TextTable table(std::move(columns));
  for (const LeakReading& reading : readings) {
    std::vector<std::string> row = {EscapeText(reading.name)};
    for (const LeakReading::Count& count : reading.counts) row.push_back(CountText(count));
    row.resize(times.size() + 1, "-");  // a server that left one out
    row.push_back(reading.leaks() ? "LEAKS" : reading.differs() ? "ok, busy" : "ok");
    row.push_back(EscapeText(reading.source));
    table.AddRow(std::move(row));
  }
  return table.Text();
}

}  // namespace sluice::admin
