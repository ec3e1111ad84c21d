#include "lib/relay/finished_line.h"

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "lib/base/log.h"
#include "lib/exchange/provenance.h"

namespace sluice::relay {
namespace {

constexpr size_t kMaxTextBytes = 256;
constexpr size_t kUsualFields = 32;

double Milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// Collects the fields that there are.
class Line {
 public:
  Line() { fields_.reserve(kUsualFields); }

  /// `text` must outlive the line.
  void Add(absl::string_view name, absl::string_view text) {
    if (!text.empty()) fields_.emplace_back(name, text.substr(0, kMaxTextBytes));
  }
  void AddNumber(absl::string_view name, uint64_t number) { fields_.emplace_back(name, number); }
  void AddNumberUnlessZero(absl::string_view name, uint64_t number) {
    if (number != 0) AddNumber(name, number);
  }
  void AddTime(absl::string_view name, const std::optional<Duration>& time) {
    if (time.has_value()) fields_.emplace_back(name, Milliseconds(*time));
  }
  void AddDigest(absl::string_view name, const std::optional<uint64_t>& digest) {
    if (!digest.has_value()) return;
    texts_.push_back(absl::StrCat(absl::Hex(*digest, absl::kZeroPad16)));
    fields_.emplace_back(name, texts_.back());
  }
  absl::Span<const LogField> fields() const { return fields_; }

 private:
  std::vector<LogField> fields_;
  std::deque<std::string> texts_;  // that fields borrow
};

void AddUsage(const Exchange& record, Line& line) {
  if (!record.usage.has_value()) return;
  const auto add = [&line](absl::string_view name, int64_t count) {
    line.AddNumber(name, static_cast<uint64_t>(count));
  };
  add("prompt_tokens", record.usage->prompt_tokens);
  add("completion_tokens", record.usage->completion_tokens);
  add("total_tokens", record.usage->total_tokens);
  if (record.usage->cached_tokens) add("cached_tokens", *record.usage->cached_tokens);
  if (record.usage->reasoning_tokens) add("reasoning_tokens", *record.usage->reasoning_tokens);
  line.Add("usage", LabelOf(record.provenance));
}

}  // namespace

void LogFinished(const Exchange& record) {
  const ExchangeInfo& info = record.info();
  const CauseInfo& cause = InfoOf(*record.cause);
  const auto since_accepted = [&record](const std::optional<Instant>& stamp) {
    return stamp ? std::optional<Duration>(*stamp - record.stamps.accepted) : std::nullopt;
  };
  const std::string id = ToString(info.id);
  Line line;
  line.Add("id", id);
  if (info.request_id != id) line.Add("request_id", info.request_id);
  line.Add("client", info.client_address);
  line.Add("method", info.method);
  line.Add("path", info.path);
  line.Add("model", info.model);
  line.Add("pool", info.pool);
  if (!record.attempts.empty()) {
    line.Add("endpoint", record.attempts.back().endpoint);
    line.Add("key", record.attempts.back().key_id);
  }
  line.AddNumber("attempts", record.attempts.size());
  line.Add("cause", cause.label);
  line.AddNumber("status", static_cast<uint64_t>(record.http_status));
  line.AddTime("first_byte_ms", since_accepted(record.stamps.first_byte));
  line.AddTime("ttft_ms", since_accepted(record.stamps.first_frame));
  line.AddTime("done_ms", since_accepted(record.stamps.done));
  line.AddNumber("bytes_in", record.bytes_from_upstream);
  line.AddNumber("bytes_out", record.bytes_to_client);
  line.AddDigest("digest_in", record.digest_from_upstream);
  if (record.digest_to_client != record.digest_from_upstream) {
    line.AddDigest("digest_out", record.digest_to_client);
  }
  line.AddNumberUnlessZero("frames", record.frames);
  line.AddNumberUnlessZero("dropped_bytes", record.dropped_bytes);
  if (record.largest_gap > Duration(0)) {
    line.AddTime("largest_gap_ms", record.largest_gap);
    line.Add("largest_gap_by", record.largest_gap_by_client ? "client" : "upstream");
  }
  AddUsage(record, line);
  line.Add("finish", record.finish_reason);
  line.AddTime("cancel_ms", record.cancel_latency);
  line.Add("detail", record.detail);
  Log(cause.level, "exchange finished", line.fields());
}

}  // namespace sluice::relay
