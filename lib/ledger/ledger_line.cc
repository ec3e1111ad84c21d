#include "lib/ledger/ledger_line.h"

#include <chrono>
#include <vector>

#include "absl/time/time.h"

#include "lib/base/display_text.h"
#include "lib/base/json_object.h"
#include "lib/exchange/provenance.h"

namespace sluice::ledger {
namespace {

constexpr size_t kMaxNameBytes = 256;

double Milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

void AddUsage(const Usage& usage, std::vector<LogField>* fields) {
  fields->insert(fields->end(), {{"prompt_tokens", usage.prompt_tokens},
                                 {"completion_tokens", usage.completion_tokens},
                                 {"total_tokens", usage.total_tokens}});
  if (usage.cached_tokens) fields->emplace_back("cached_tokens", *usage.cached_tokens);
  if (usage.reasoning_tokens) fields->emplace_back("reasoning_tokens", *usage.reasoning_tokens);
}

}  // namespace

std::string LedgerLine(const Exchange& x) {
  const ExchangeInfo& info = x.info();
  const Duration took = x.stamps.done.value_or(x.stamps.accepted) - x.stamps.accepted;
  const std::string time = absl::FormatTime(
      "%Y-%m-%dT%H:%M:%E3SZ", info.started + absl::FromChrono(took), absl::UTCTimeZone());
  const std::string id = ToString(info.id);
  const std::string request_id = DisplayText(info.request_id, kMaxNameBytes);
  const std::string principal = DisplayText(info.principal, kMaxNameBytes);
  const std::string model = DisplayText(info.model, kMaxNameBytes);
  std::vector<LogField> fields = {{"time", time},
                                  {"id", id},
                                  {"request_id", request_id},
                                  {"principal", principal},
                                  {"model", model},
                                  {"pool", info.pool},
                                  {"endpoint", x.subject->endpoint},
                                  {"key", x.subject->key_id},
                                  {"cause", InfoOf(x.cause.value_or(Cause::kInternal)).label},
                                  {"http_status", x.http_status},
                                  {"attempts", x.attempts.size()},
                                  {"stream", info.stream},
                                  {"usage", LabelOf(x.provenance)}};
  if (x.usage.has_value()) AddUsage(*x.usage, &fields);
  fields.insert(fields.end(), {{"upstream_bytes", uint64_t{x.bytes_from_upstream}},
                               {"client_bytes", uint64_t{x.bytes_to_client}},
                               {"duration_ms", Milliseconds(took)}});
  if (x.stamps.first_frame.has_value()) {
    fields.emplace_back("ttft_ms", Milliseconds(*x.stamps.first_frame - x.stamps.accepted));
  }
  return JsonObject(fields);
}

}  // namespace sluice::ledger
