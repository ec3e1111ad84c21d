#include <chrono>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/exchange_request.h"
#include "admin/flag_values.h"
#include "admin/json.h"
#include "admin/pause.h"
#include "admin/top_feed.h"
#include "admin/top_keys.h"
#include "admin/top_layout.h"
#include "admin/top_model.h"
#include "admin/top_screen.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

/// How long a key may go unseen at most when there is news, and the other way round.
constexpr std::chrono::milliseconds kPatience(50);
constexpr int kMostStreams = 1000;  // in one call

/// Two samples, so that there are rates.
ExitCode PrintOnce(CommandContext& context, const v1::ListExchangesRequest& selection,
                   absl::Duration interval) {
  World& world = context.world;
  TopModel model;
  for (int i = 0; i < 2; ++i) {
    if (i > 0) PauseUnlessStopped(absl::ToChronoMilliseconds(interval), world.stop);
    auto sample = TakeSample(context.client, world.clock, selection);
    if (!sample.ok()) return ReportCallError(sample.status(), context.server(), world.err);
    model.Add(*std::move(sample));
  }
  if (context.json()) {
    world.out << "{\"status\":" << ToJson(model.latest()->status)
              << ",\"endpoints\":" << ToJson(model.latest()->endpoints)
              << ",\"exchanges\":" << ToJson(model.latest()->exchanges) << "}\n";
    return ExitCode::kOk;
  }
  const TopFrame frame = {.server = context.server(),
                          .now = world.clock.WallNow(),
                          .zone = world.zone,
                          .notice = "",
                          .mark_selected = false};
  constexpr size_t kEverything = std::numeric_limits<int32_t>::max();
  for (const TopLine& line : LayOutTop(model, frame, kEverything)) world.out << line.text << "\n";
  return ExitCode::kOk;
}

std::vector<TopLine> Compose(const TopModel& model, const TopKeys& keys, const TopFrame& frame,
                             size_t height) {
  std::vector<TopLine> lines =
      keys.help() ? TopKeys::HelpLines() : LayOutTop(model, frame, height > 0 ? height - 1 : 0);
  while (lines.size() + 1 < height) lines.push_back({});
  lines.push_back({keys.Prompt(), TopLine::Style::kHint});
  return lines;
}

/// Takes in what is new; whether anything was.
bool TakeIn(std::deque<TopFeed::News> news, TopModel* model, std::string* notice) {
  for (TopFeed::News& one : news) {
    if (auto* sample = std::get_if<TopSample>(&one)) {
      model->Add(std::move(*sample));
      if (absl::StartsWith(*notice, "no answer")) notice->clear();
    } else if (const auto* error = std::get_if<absl::Status>(&one)) {
      *notice = absl::StrCat("no answer, trying again: ", EscapeText(error->message()));
    } else {
      *notice = std::get<std::string>(one);
    }
  }
  return !news.empty();
}

/// Until the user quits.
void Show(TopScreen& screen, CommandContext& context, TopFeed& feed, TopModel model) {
  World& world = context.world;
  TopKeys keys(model);
  std::string notice;
  bool changed = true;
  while (!world.stop.stop_requested()) {
    if (changed) {
      const TopFrame frame = {.server = context.server(),
                              .now = world.clock.WallNow(),
                              .zone = world.zone,
                              .notice = notice};
      screen.Draw(Compose(model, keys, frame, screen.height()));
    }
    const size_t height = screen.height();
    const std::optional<TopKey> key = screen.ReadKey(kPatience);
    if (key) {
      TopKeys::Action action = keys.Press(*key);
      if (action.kind == TopKeys::Action::Kind::kQuit) return;
      if (action.kind == TopKeys::Action::Kind::kCancel) {
        v1::CancelExchangeRequest request;
        request.set_id(action.exchange);
        request.set_reason(action.reason);
        feed.Cancel(std::move(request));
      }
    }
    const bool news = TakeIn(feed.Take(), &model, &notice);
    changed = news || key || screen.height() != height;
  }
}

}  // namespace

ExitCode RunTop(CommandContext& context) {
  World& world = context.world;
  const auto interval = FlagDuration(context.invocation, "interval", absl::Milliseconds(100));
  if (!interval.ok()) return ReportUsageError(context, interval.status());
  v1::ListExchangesRequest selection = ListRequest(context.invocation);
  selection.set_selection(v1::ListExchangesRequest::SELECTION_LIVE);
  selection.set_page_size(kMostStreams);
  if (!context.invocation.flag("once").empty() || context.json() || !world.open_screen) {
    return PrintOnce(context, selection, *interval);
  }

  auto sample = TakeSample(context.client, world.clock, selection);
  if (!sample.ok()) return ReportCallError(sample.status(), context.server(), world.err);
  TopModel model;
  model.Add(*std::move(sample));
  TopFeed feed(context.client, world.clock, selection, *interval);
  // Closed before the feed, which may wait for an answer.
  const std::unique_ptr<TopScreen> screen = world.open_screen();
  if (screen == nullptr) {
    world.err << "sluicectl: this kind of terminal is not known; is TERM right? `sluicectl top "
                 "--once` needs none.\n";
    return ExitCode::kError;
  }
  Show(*screen, context, feed, std::move(model));
  return ExitCode::kOk;
}

}  // namespace sluice::admin
