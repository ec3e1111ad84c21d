#include "admin/top_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "admin/exchange_text.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using Column = TopModel::Column;

constexpr int kColumns = static_cast<int>(Column::kEndpoint) + 1;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// By what numbers are sorted; what there is none of comes last.
double KeyOf(const TopModel::Stream& stream, Column column) {
  constexpr double kNone = -1;
  const v1::Exchange& exchange = *stream.exchange;
  switch (column) {
    case Column::kAge:
      return absl::ToDoubleSeconds(ToDuration(exchange.age()));
    case Column::kIdle:
      return exchange.has_since_last_piece()
                 ? absl::ToDoubleSeconds(ToDuration(exchange.since_last_piece()))
                 : kNone;
    case Column::kFrames:
      return static_cast<double>(exchange.frames());
    case Column::kFramesPerSecond:
      return stream.frames_per_second.value_or(kNone);
    case Column::kTtft:
      return exchange.has_ttft() ? absl::ToDoubleSeconds(ToDuration(exchange.ttft())) : kNone;
    case Column::kTokens:
      return exchange.has_usage() ? static_cast<double>(exchange.usage().completion_tokens())
                                  : kNone;
    case Column::kModel:
    case Column::kEndpoint:
      break;
  }
  return kNone;
}

const std::string& WordOf(const TopModel::Stream& stream, Column column) {
  return column == Column::kModel ? stream.exchange->model() : stream.exchange->endpoint();
}

bool ComesFirst(const TopModel::Stream& a, const TopModel::Stream& b, Column column) {
  if (column == Column::kModel || column == Column::kEndpoint) {
    return WordOf(a, column) < WordOf(b, column);
  }
  return KeyOf(a, column) > KeyOf(b, column);
}

bool Passes(const v1::Exchange& exchange, const std::string& filter) {
  const std::string all =
      absl::StrCat(exchange.id(), "\n", exchange.model(), "\n", PlaceText(exchange), "\n",
                   exchange.principal(), "\n", PhaseText(exchange.phase()));
  return absl::StrContains(absl::AsciiStrToLower(all), absl::AsciiStrToLower(filter));
}

}  // namespace

absl::string_view TopModel::NameOf(Column column) {
  static constexpr absl::string_view kNames[kColumns] = {"age",  "idle",   "frames", "frames/s",
                                                         "ttft", "tokens", "model",  "endpoint"};
  return kNames[static_cast<int>(column)];
}

void TopModel::Add(TopSample sample) {
  if (paused_) return;
  before_ = std::move(latest_);
  latest_ = std::move(sample);
  frames_before_.clear();
  if (before_) {
    for (const v1::Exchange& exchange : before_->exchanges.exchanges()) {
      frames_before_[exchange.id()] = exchange.frames();
    }
  }
  SumUpEndpoints();
  Arrange();
}

std::optional<double> TopModel::accepted_per_second() const {
  const auto seconds = SecondsBetween();
  if (!seconds) return std::nullopt;
  return static_cast<double>(latest_->status.accepted() - before_->status.accepted()) / *seconds;
}

double TopModel::frames_per_second() const {
  double sum = 0;
  for (const Endpoint& endpoint : endpoints_) sum += endpoint.frames_per_second;
  return sum;
}

void TopModel::SortByNext() {
  column_ = static_cast<Column>((static_cast<int>(column_) + 1) % kColumns);
  Arrange();
}

void TopModel::Reverse() {
  reversed_ = !reversed_;
  Arrange();
}

void TopModel::SetFilter(absl::string_view text) {
  filter_ = std::string(text);
  Arrange();
}

void TopModel::MoveSelection(int places) {
  const auto last = static_cast<int64_t>(streams_.size()) - 1;
  selected_ = static_cast<size_t>(
      std::max<int64_t>(0, std::min(static_cast<int64_t>(selected_) + places, last)));
  selected_id_ = streams_.empty() ? "" : streams_[selected_].exchange->id();
}

const v1::Exchange* TopModel::selected_exchange() const {
  return streams_.empty() ? nullptr : streams_[selected_].exchange;
}

std::optional<double> TopModel::SecondsBetween() const {
  if (!before_ || before_->status.boot_id() != latest_->status.boot_id()) return std::nullopt;
  const double seconds = Seconds(latest_->at - before_->at);
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

std::optional<double> TopModel::FramesPerSecond(const v1::Exchange& exchange) const {
  const auto seconds = SecondsBetween();
  if (!seconds) return std::nullopt;
  const auto before = frames_before_.find(exchange.id());
  // One that began since had none then.
  const int64_t frames = exchange.frames() - (before == frames_before_.end() ? 0 : before->second);
  return static_cast<double>(frames) / *seconds;
}

void TopModel::SumUpEndpoints() {
  absl::flat_hash_map<std::string, double> sums;
  for (const v1::Exchange& exchange : latest_->exchanges.exchanges()) {
    sums[exchange.endpoint()] += FramesPerSecond(exchange).value_or(0);
  }
  endpoints_.clear();
  for (const v1::EndpointStatus& status : latest_->endpoints.endpoints()) {
    endpoints_.push_back({&status, sums[status.name()]});
  }
}

void TopModel::Arrange() {
  streams_.clear();
  if (!latest_) return;
  for (const v1::Exchange& exchange : latest_->exchanges.exchanges()) {
    if (Passes(exchange, filter_)) streams_.push_back({&exchange, FramesPerSecond(exchange)});
  }
  std::stable_sort(streams_.begin(), streams_.end(), [this](const Stream& a, const Stream& b) {
    return reversed_ ? ComesFirst(b, a, column_) : ComesFirst(a, b, column_);
  });
  const auto same = std::find_if(streams_.begin(), streams_.end(), [this](const Stream& one) {
    return one.exchange->id() == selected_id_;
  });
  if (same != streams_.end()) selected_ = static_cast<size_t>(same - streams_.begin());
  MoveSelection(0);
}

}  // namespace sluice::admin
