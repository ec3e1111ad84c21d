#include "admin/top_layout.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include "admin/escape.h"
#include "admin/exchange_text.h"
#include "admin/text_table.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using Style = TopLine::Style;

std::string RateText(std::optional<double> rate) {
  if (!rate) return "-";
  return *rate < 100 ? absl::StrFormat("%.1f", *rate) : absl::StrFormat("%.0f", *rate);
}

std::string ServerLine(const TopModel& model, const TopFrame& frame) {
  const v1::ServerStatus& status = model.latest()->status;
  return absl::StrCat("sluice ", EscapeName(status.version()), " at ", EscapeText(frame.server),
                      ", up ", DurationText(frame.now - ToTime(status.start_time())), ", at ",
                      absl::FormatTime("%H:%M:%S", frame.now, frame.zone),
                      model.paused() ? ", PAUSED" : "");
}

std::string LoadLine(const TopModel& model) {
  const v1::ServerStatus& status = model.latest()->status;
  const v1::EventRing& ring = status.ring();
  const auto& endpoints = model.endpoints();
  const auto drained =
      std::count_if(endpoints.begin(), endpoints.end(), [](const TopModel::Endpoint& endpoint) {
        return endpoint.status->state() == v1::EndpointStatus::STATE_DRAINING;
      });
  return absl::StrCat(status.draining() ? "DRAINING; " : "", status.in_flight(), " in flight, ",
                      RateText(model.accepted_per_second()), " accepted/s, ",
                      RateText(model.frames_per_second()), " frames/s; config ",
                      status.config_generation(), "; ", status.watchers(), " watchers; ring ",
                      ring.capacity() == 0 ? 0 : ring.size() * 100 / ring.capacity(), "% full; ",
                      drained, " drained");
}

/// The head and the rows of a table as lines; `selected` is a row, or none of them.
void AddTable(const TextTable& table, size_t selected, std::vector<TopLine>* lines) {
  const std::string text = table.Text();
  size_t row = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const Style style = row == 0              ? Style::kHead
                        : row == selected + 1 ? Style::kSelected
                                              : Style::kPlain;
    lines->push_back({std::string(line), style});
    ++row;
  }
}

constexpr size_t kNone = SIZE_MAX - 1;

void AddEndpoints(const TopModel& model, size_t room, std::vector<TopLine>* lines) {
  TextTable table({{"ENDPOINT"},
                   {"STATE"},
                   {"IN FLIGHT", true},
                   {"ATTEMPTS", true},
                   {"FAILED", true},
                   {"FRAMES/S", true}});
  const auto& endpoints = model.endpoints();
  const bool all = endpoints.size() <= room;
  const size_t shown = all ? endpoints.size() : room - 1;  // and a line about the rest
  for (size_t i = 0; i < shown; ++i) {
    const v1::EndpointStatus& status = *endpoints[i].status;
    table.AddRow({EndpointText(status.name()), StateText(status.state()),
                  absl::StrCat(status.in_flight()), absl::StrCat(status.attempts()),
                  absl::StrCat(status.failed_attempts()),
                  RateText(endpoints[i].frames_per_second)});
  }
  AddTable(table, kNone, lines);
  if (!all) {
    lines->push_back(
        {absl::StrCat("and ", endpoints.size() - shown, " more: see `sluicectl endpoint list`"),
         Style::kHint});
  }
}

std::string StreamsTitle(const TopModel& model) {
  const auto listed = static_cast<int64_t>(model.latest()->exchanges.exchanges_size());
  std::string title = absl::StrCat("streams: ", model.streams().size());
  if (!model.filter().empty()) {
    absl::StrAppend(&title, " of ", listed, " with \"", EscapeText(model.filter()), "\"");
  }
  if (const int64_t total = model.latest()->exchanges.total_size(); total > listed) {
    absl::StrAppend(&title, ", the latest ", listed, " of ", total);
  }
  absl::StrAppend(&title, ", by ", TopModel::NameOf(model.column()),
                  model.reversed() ? ", reversed" : "");
  return title;
}

void AddStreams(const TopModel& model, bool mark_selected, size_t room,
                std::vector<TopLine>* lines) {
  TextTable table({{"ID"},
                   {"MODEL"},
                   {"ENDPOINT"},
                   {"PHASE"},
                   {"AGE", true},
                   {"IDLE", true},
                   {"FRAMES", true},
                   {"FRAMES/S", true},
                   {"TTFT", true},
                   {"TOKENS", true}});
  // The page that has the selected one.
  const size_t first = room == 0 ? 0 : model.selected() / room * room;
  const size_t end =
      std::min(model.streams().size(), first + std::min(room, model.streams().size()));
  for (size_t i = first; i < end; ++i) {
    const v1::Exchange& exchange = *model.streams()[i].exchange;
    table.AddRow({ShortIdText(exchange.id()), EscapeName(exchange.model()), PlaceText(exchange),
                  PhaseText(exchange.phase()), DurationText(ToDuration(exchange.age())),
                  IdleText(exchange), absl::StrCat(exchange.frames()),
                  RateText(model.streams()[i].frames_per_second), TtftText(exchange),
                  TokensText(exchange)});
  }
  AddTable(table, mark_selected ? model.selected() - first : kNone, lines);
}

}  // namespace

std::vector<TopLine> LayOutTop(const TopModel& model, const TopFrame& frame, size_t height) {
  std::vector<TopLine> lines;
  if (model.latest() == nullptr) return lines;
  constexpr size_t kFewestEndpoints = 3;
  lines.push_back({ServerLine(model, frame), Style::kPlain});
  lines.push_back({LoadLine(model), Style::kPlain});
  lines.push_back({frame.notice, Style::kAlarm});
  AddEndpoints(model, std::max(kFewestEndpoints, height / 3), &lines);
  lines.push_back({});
  lines.push_back({StreamsTitle(model), Style::kPlain});
  const size_t used = lines.size() + 1;  // with the head of the streams
  AddStreams(model, frame.mark_selected, height > used ? height - used : 0, &lines);
  if (lines.size() > height) lines.resize(height);
  return lines;
}

}  // namespace sluice::admin
