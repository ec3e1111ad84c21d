#include "admin/event_text.h"

#include <cstdint>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "admin/escape.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

/// "completed" of CAUSE_COMPLETED; the number of one this version does not know.
std::string CauseText(v1::Cause cause) {
  const std::string& name = v1::Cause_Name(cause);
  if (name.empty()) return absl::StrCat(static_cast<int>(cause));
  return absl::AsciiStrToLower(absl::StripPrefix(name, "CAUSE_"));
}

std::string UsageText(const v1::Usage& usage) {
  std::string text = absl::StrCat(usage.prompt_tokens(), "/", usage.completion_tokens(), "/",
                                  usage.total_tokens());
  if (usage.has_cached_tokens()) absl::StrAppend(&text, " cached=", usage.cached_tokens());
  if (usage.has_reasoning_tokens()) absl::StrAppend(&text, " reasoning=", usage.reasoning_tokens());
  return text;
}

/// `name=value`, or nothing for an empty value; quoted when it has spaces.
void AppendField(absl::string_view name, absl::string_view value, std::string* out) {
  if (value.empty()) return;
  const bool quote = absl::StrContains(value, ' ') || absl::StrContains(value, '"');
  absl::StrAppend(out, " ", name, "=", quote ? "\"" : "", EscapeText(value), quote ? "\"" : "");
}

std::string FinishedText(const v1::ExchangeFinished& finished) {
  std::string text = absl::StrCat("cause=", CauseText(finished.cause()));
  if (finished.http_status() != 0) absl::StrAppend(&text, " status=", finished.http_status());
  const v1::Timings& timings = finished.timings();
  if (timings.has_first_frame()) {
    absl::StrAppend(&text, " ttft=", DurationText(ToDuration(timings.first_frame())));
  }
  if (timings.has_done())
    absl::StrAppend(&text, " total=", DurationText(ToDuration(timings.done())));
  absl::StrAppend(&text, " frames=", finished.frames(), " bytes=", finished.client_bytes());
  if (finished.has_usage()) {
    absl::StrAppend(&text, " usage=", UsageText(finished.usage()));
    if (finished.usage_provenance() == v1::USAGE_PROVENANCE_PARTIAL)
      absl::StrAppend(&text, " (partial)");
  }
  if (finished.attempts() > 1) absl::StrAppend(&text, " attempts=", finished.attempts());
  AppendField("finish", finished.finish_reason(), &text);
  AppendField("detail", finished.detail(), &text);
  return text;
}

struct KindText {
  absl::string_view kind;
  std::string facts;
};

KindText Describe(const v1::Event& event) {
  switch (event.kind_case()) {
    case v1::Event::kExchangeStarted: {
      const v1::ExchangeStarted& started = event.exchange_started();
      std::string facts =
          absl::StrCat(EscapeName(started.method()), " ", EscapeName(started.path()));
      if (started.stream()) absl::StrAppend(&facts, " stream");
      AppendField("client", started.client_address(), &facts);
      AppendField("principal", started.principal(), &facts);
      return {"started", facts};
    }
    case v1::Event::kAttemptStarted: {
      std::string facts = absl::StrCat("attempt=", event.attempt());
      AppendField("key", event.attempt_started().key_id(), &facts);
      return {"attempt", facts};
    }
    case v1::Event::kAttemptFailed: {
      const v1::AttemptFailed& failed = event.attempt_failed();
      std::string facts =
          absl::StrCat("attempt=", event.attempt(), " cause=", CauseText(failed.cause()));
      if (failed.http_status() != 0) absl::StrAppend(&facts, " status=", failed.http_status());
      AppendField("detail", failed.detail(), &facts);
      return {"attempt-failed", facts};
    }
    case v1::Event::kFirstByte:
      return {"first-byte", absl::StrCat("status=", event.first_byte().http_status(),
                                         " after=", DurationText(ToDuration(event.since_start())))};
    case v1::Event::kFirstFrame:
      return {"first-frame", absl::StrCat("ttft=", DurationText(ToDuration(event.since_start())))};
    case v1::Event::kChunk:
      return {"chunk", absl::StrCat("frame=", event.chunk().index(),
                                    " gap=", DurationText(ToDuration(event.chunk().gap())),
                                    " bytes=", event.chunk().size_bytes())};
    case v1::Event::kUsage:
      return {"usage", absl::StrCat("usage=", UsageText(event.usage()))};
    case v1::Event::kExchangeFinished:
      return {"finished", FinishedText(event.exchange_finished())};
    case v1::Event::kConfigChanged: {
      std::string facts = absl::StrCat("generation=", event.config_changed().generation());
      AppendField("etag", event.config_changed().etag(), &facts);
      return {"config-changed", facts};
    }
    case v1::Event::KIND_NOT_SET:
      break;
  }
  return {"unknown", "sluicectl is older than the server"};
}

/// "chat/a" of "pools/chat/endpoints/a"; the pool before there is an endpoint.
std::string Place(const v1::Event& event) {
  const std::vector<absl::string_view> parts = absl::StrSplit(event.endpoint(), '/');
  if (parts.size() == 4) return EscapeName(absl::StrCat(parts[1], "/", parts[3]));
  return EscapeName(event.endpoint().empty() ? event.pool() : event.endpoint());
}

std::string ShortId(absl::string_view exchange) {
  constexpr size_t kDigits = 8;
  return EscapeName(exchange.size() > kDigits ? exchange.substr(exchange.size() - kDigits)
                                              : exchange);
}

}  // namespace

std::string EventLine(const v1::Event& event, absl::TimeZone zone) {
  const KindText text = Describe(event);
  return absl::StrFormat("%s  %-8s  %-14s  %-16s  %-14s  %s\n",
                         absl::FormatTime("%H:%M:%E3S", ToTime(event.time()), zone),
                         ShortId(event.exchange()), text.kind, EscapeName(event.model()),
                         Place(event), text.facts);
}

std::string LostLine(const v1::Lost& lost) {
  switch (lost.reason()) {
    case v1::Lost::REASON_RESTARTED:
      return "-- lost: the server was restarted; events before that are gone\n";
    case v1::Lost::REASON_OVERRUN:
      return absl::StrFormat("-- lost: %d events, overwritten before they were read\n",
                             lost.count());
    default:
      return absl::StrFormat("-- lost: %d events\n", lost.count());
  }
}

std::string DurationText(absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds < 0.01) return absl::StrFormat("%.1fms", seconds * 1e3);
  if (seconds < 1) return absl::StrFormat("%.0fms", seconds * 1e3);
  if (seconds < 60) return absl::StrFormat("%.2fs", seconds);
  const int64_t whole = absl::ToInt64Seconds(duration);
  if (whole < 3600) return absl::StrFormat("%dm%02ds", whole / 60, whole % 60);
  if (whole < 86400) return absl::StrFormat("%dh%02dm", whole / 3600, whole / 60 % 60);
  return absl::StrFormat("%dd%02dh", whole / 86400, whole / 3600 % 24);
}

absl::Time ToTime(const google::protobuf::Timestamp& timestamp) {
  return absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
}

absl::Duration ToDuration(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

}  // namespace sluice::admin
