#include "admin/exchange_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "admin/escape.h"
#include "admin/text_table.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

void AppendRow(absl::string_view name, absl::string_view value, std::string* text) {
  absl::StrAppendFormat(text, "%-12s  %s\n", name, value);
}

std::string Length(const google::protobuf::Duration& duration) {
  return DurationText(ToDuration(duration));
}

std::string StateLine(const v1::Exchange& exchange) {
  if (!exchange.has_finished()) {
    std::string text = absl::StrCat("runs, in the phase ", PhaseText(exchange.phase()), ", for ",
                                    Length(exchange.age()));
    if (exchange.has_since_last_piece()) {
      absl::StrAppend(&text, "; last piece ", Length(exchange.since_last_piece()), " ago");
    }
    return text;
  }
  const v1::ExchangeFinished& finished = exchange.finished();
  std::string text =
      absl::StrCat("ended after ", Length(exchange.age()), ": ", CauseText(finished.cause()));
  if (!finished.detail().empty()) absl::StrAppend(&text, " (", EscapeText(finished.detail()), ")");
  if (finished.http_status() != 0) absl::StrAppend(&text, ", status ", finished.http_status());
  return text;
}

std::string Facts(const v1::Exchange& exchange, absl::TimeZone zone) {
  std::string text;
  AppendRow("exchange", EscapeName(exchange.id()), &text);
  AppendRow("state", StateLine(exchange), &text);
  AppendRow("request id", EscapeName(exchange.request_id()), &text);
  AppendRow("request",
            absl::StrCat(EscapeName(exchange.method()), " ", EscapeName(exchange.path()), ", ",
                         EscapeName(exchange.dialect()), exchange.stream() ? ", stream" : ""),
            &text);
  AppendRow("client",
            absl::StrCat(EscapeName(exchange.client_address()), ", principal ",
                         EscapeName(exchange.principal())),
            &text);
  AppendRow("model", EscapeName(exchange.model()), &text);
  AppendRow("place",
            absl::StrCat(PlaceText(exchange), ", attempt ", exchange.attempt(), ", key ",
                         EscapeName(exchange.key_id())),
            &text);
  AppendRow("config", absl::StrCat("generation ", exchange.config_generation()), &text);
  AppendRow("accepted",
            absl::FormatTime("%Y-%m-%d %H:%M:%E3S %Ez", ToTime(exchange.start_time()), zone),
            &text);
  AppendRow("ttft", TtftText(exchange), &text);
  AppendRow("passed",
            absl::StrCat(exchange.frames(), " frames, ", exchange.client_bytes(),
                         " bytes to the client, ", exchange.upstream_bytes(), " from upstreams"),
            &text);
  AppendRow("usage",
            exchange.has_usage()
                ? absl::StrCat(UsageText(exchange.usage()), " tokens (prompt/completion/total)")
                : "none reported",
            &text);
  return text;
}

std::string FinishedFacts(const v1::ExchangeFinished& finished) {
  std::string text;
  if (!finished.finish_reason().empty()) {
    AppendRow("finish", EscapeName(finished.finish_reason()), &text);
  }
  if (finished.usage_provenance() == v1::USAGE_PROVENANCE_PARTIAL) {
    AppendRow("note", "the usage is partial: the stream did not end cleanly after it", &text);
  }
  if (finished.has_largest_gap()) {
    AppendRow("largest gap",
              absl::StrCat(Length(finished.largest_gap()), " between two pieces; ",
                           finished.largest_gap_by_client() ? "the client did not read meanwhile"
                                                            : "the upstream was silent"),
              &text);
  }
  if (finished.dropped_stretches() > 0) {
    AppendRow("left out",
              absl::StrCat(finished.dropped_bytes(), " bytes at ", finished.dropped_stretches(),
                           " places"),
              &text);
  }
  if (finished.has_cancel_latency()) {
    AppendRow("cancelled",
              absl::StrCat("the upstream was closed within ", Length(finished.cancel_latency())),
              &text);
  }
  if (!finished.upstream_digest().empty() || !finished.client_digest().empty()) {
    AppendRow("digests",
              absl::StrCat("upstream ", EscapeName(finished.upstream_digest()), ", client ",
                           EscapeName(finished.client_digest())),
              &text);
  }
  return text;
}

std::string TimingsText(const v1::Timings& timings) {
  std::string text;
  const auto row = [&text](absl::string_view name, bool reached,
                           const google::protobuf::Duration& at) {
    absl::StrAppendFormat(&text, "  %-20s  %8s\n", name, reached ? Length(at) : "-");
  };
  row("upstream connected", timings.has_upstream_connected(), timings.upstream_connected());
  row("upstream head", timings.has_upstream_head(), timings.upstream_head());
  row("upstream first byte", timings.has_upstream_first_byte(), timings.upstream_first_byte());
  row("first byte", timings.has_first_byte(), timings.first_byte());
  row("first frame", timings.has_first_frame(), timings.first_frame());
  row("first content", timings.has_first_content(), timings.first_content());
  row("done", timings.has_done(), timings.done());
  return text;
}

/// How an attempt stands or went.
std::string OutcomeText(const v1::Attempt& attempt, const v1::Exchange& exchange) {
  if (attempt.cause() != v1::CAUSE_UNSPECIFIED) return CauseText(attempt.cause());
  const bool committed = exchange.has_finished() ? exchange.finished().timings().has_first_byte()
                                                 : exchange.phase() == v1::PHASE_RELAY;
  if (committed) return "committed";
  return exchange.has_finished() ? "given up" : "running";
}

std::string AttemptsTable(const v1::Exchange& exchange) {
  TextTable table({{"#", true},
                   {"ENDPOINT"},
                   {"KEY"},
                   {"STARTED", true},
                   {"TOOK", true},
                   {"STATUS", true},
                   {"OUTCOME"},
                   {"DETAIL"}});
  for (const v1::Attempt& attempt : exchange.attempts()) {
    table.AddRow({absl::StrCat(attempt.number()), EndpointText(attempt.endpoint()),
                  EscapeName(attempt.key_id()), Length(attempt.started()),
                  attempt.has_took() ? Length(attempt.took()) : "-",
                  attempt.http_status() == 0 ? "-" : absl::StrCat(attempt.http_status()),
                  OutcomeText(attempt, exchange), EscapeText(attempt.detail())});
  }
  return table.Text();
}

std::string GapBars(const v1::GapHistogram& gaps) {
  constexpr int64_t kLongestBar = 40;
  int64_t most = 1;
  for (const auto& bucket : gaps.buckets()) most = std::max(most, bucket.count());
  std::string text;
  for (const auto& bucket : gaps.buckets()) {
    // Rounded up: where there is a gap there is a bar.
    const int64_t length = (bucket.count() * kLongestBar + most - 1) / most;
    absl::StrAppendFormat(&text, "  %-12s  %8d  %s\n",
                          bucket.has_up_to() ? "<= " + Length(bucket.up_to()) : "longer",
                          bucket.count(), std::string(static_cast<size_t>(length), '#'));
  }
  return text;
}

}  // namespace

std::string PlaceText(const v1::Exchange& exchange) {
  return exchange.endpoint().empty() ? EscapeName(exchange.pool())
                                     : EndpointText(exchange.endpoint());
}

std::string TokensText(const v1::Exchange& exchange) {
  if (!exchange.has_usage()) return "-";
  return absl::StrCat(exchange.usage().prompt_tokens(), "/", exchange.usage().completion_tokens());
}

std::string TtftText(const v1::Exchange& exchange) {
  return exchange.has_ttft() ? Length(exchange.ttft()) : "-";
}

std::string IdleText(const v1::Exchange& exchange) {
  return exchange.has_since_last_piece() ? Length(exchange.since_last_piece()) : "-";
}

std::string ExchangeTable(absl::Span<const v1::Exchange> exchanges) {
  const bool causes = std::any_of(exchanges.begin(), exchanges.end(),
                                  [](const v1::Exchange& one) { return one.has_finished(); });
  std::vector<TextTable::Column> columns = {{"ID"},           {"PHASE"},      {"AGE", true},
                                            {"MODEL"},        {"ENDPOINT"},   {"ATTEMPT", true},
                                            {"PRINCIPAL"},    {"TTFT", true}, {"FRAMES", true},
                                            {"TOKENS", true}, {"IDLE", true}};
  if (causes) columns.push_back({"CAUSE"});
  TextTable table(std::move(columns));
  for (const v1::Exchange& exchange : exchanges) {
    std::vector<std::string> row = {EscapeName(exchange.id()),
                                    PhaseText(exchange.phase()),
                                    Length(exchange.age()),
                                    EscapeName(exchange.model()),
                                    PlaceText(exchange),
                                    absl::StrCat(exchange.attempt()),
                                    EscapeName(exchange.principal()),
                                    TtftText(exchange),
                                    absl::StrCat(exchange.frames()),
                                    TokensText(exchange),
                                    IdleText(exchange)};
    if (causes) {
      row.push_back(exchange.has_finished() ? CauseText(exchange.finished().cause()) : "-");
    }
    table.AddRow(std::move(row));
  }
  return table.Text();
}

std::string ExchangeReport(const v1::Exchange& exchange, absl::TimeZone zone) {
  std::string text = Facts(exchange, zone);
  if (exchange.has_finished()) {
    absl::StrAppend(&text, FinishedFacts(exchange.finished()), "\nreached after\n",
                    TimingsText(exchange.finished().timings()));
  }
  absl::StrAppend(&text, "\nattempts\n",
                  exchange.attempts().empty() ? "none\n" : AttemptsTable(exchange));
  absl::StrAppend(&text, "\ntimes between frames\n",
                  exchange.gaps().buckets().empty() ? "  none\n" : GapBars(exchange.gaps()));
  return text;
}

}  // namespace sluice::admin
