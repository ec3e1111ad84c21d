#include "admin/event_text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "admin/escape.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

// In the order of the oneof Event.kind.
constexpr KindName kKindNames[] = {
    {"started", v1::EVENT_KIND_EXCHANGE_STARTED},
    {"attempt", v1::EVENT_KIND_ATTEMPT_STARTED},
    {"attempt_failed", v1::EVENT_KIND_ATTEMPT_FAILED},
    {"first_byte", v1::EVENT_KIND_FIRST_BYTE},
    {"first_frame", v1::EVENT_KIND_FIRST_FRAME},
    {"chunk", v1::EVENT_KIND_CHUNK},
    {"usage", v1::EVENT_KIND_USAGE},
    {"finished", v1::EVENT_KIND_EXCHANGE_FINISHED},
    {"config_changed", v1::EVENT_KIND_CONFIG_CHANGED},
    {"endpoint_state", v1::EVENT_KIND_ENDPOINT_STATE_CHANGED},
    {"key_state", v1::EVENT_KIND_KEY_STATE_CHANGED},
};

absl::string_view NameOf(v1::Event::KindCase kind) {
  if (kind == v1::Event::KIND_NOT_SET) return "unknown";
  return kKindNames[kind - v1::Event::kExchangeStarted].name;
}

/// `name=value`, or nothing for an empty value; quoted when it has spaces.
void AppendField(absl::string_view name, absl::string_view value, std::string* out) {
  if (value.empty()) return;
  const bool quote = absl::StrContains(value, ' ') || absl::StrContains(value, '"');
  absl::StrAppend(out, " ", name, "=", quote ? "\"" : "", EscapeText(value), quote ? "\"" : "");
}

void AppendUntil(const google::protobuf::Timestamp& until, absl::TimeZone zone, std::string* out) {
  absl::StrAppend(out, " until=", absl::FormatTime("%H:%M:%E3S", ToTime(until), zone));
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

std::string FactsText(const v1::Event& event, absl::TimeZone zone) {
  std::string facts;
  switch (event.kind_case()) {
    case v1::Event::kExchangeStarted: {
      const v1::ExchangeStarted& started = event.exchange_started();
      facts = absl::StrCat(EscapeName(started.method()), " ", EscapeName(started.path()));
      if (started.stream()) absl::StrAppend(&facts, " stream");
      AppendField("client", started.client_address(), &facts);
      AppendField("principal", started.principal(), &facts);
      return facts;
    }
    case v1::Event::kAttemptStarted:
      facts = absl::StrCat("attempt=", event.attempt());
      AppendField("key", event.attempt_started().key_id(), &facts);
      return facts;
    case v1::Event::kAttemptFailed: {
      const v1::AttemptFailed& failed = event.attempt_failed();
      facts = absl::StrCat("attempt=", event.attempt(), " cause=", CauseText(failed.cause()));
      if (failed.http_status() != 0) absl::StrAppend(&facts, " status=", failed.http_status());
      AppendField("detail", failed.detail(), &facts);
      return facts;
    }
    case v1::Event::kFirstByte:
      return absl::StrCat("status=", event.first_byte().http_status(),
                          " after=", DurationText(ToDuration(event.since_start())));
    case v1::Event::kFirstFrame:
      return absl::StrCat("ttft=", DurationText(ToDuration(event.since_start())));
    case v1::Event::kChunk:
      return absl::StrCat("frame=", event.chunk().index(),
                          " gap=", DurationText(ToDuration(event.chunk().gap())),
                          " bytes=", event.chunk().size_bytes());
    case v1::Event::kUsage:
      return absl::StrCat("usage=", UsageText(event.usage()));
    case v1::Event::kExchangeFinished:
      return FinishedText(event.exchange_finished());
    case v1::Event::kConfigChanged:
      facts = absl::StrCat("generation=", event.config_changed().generation());
      AppendField("etag", event.config_changed().etag(), &facts);
      return facts;
    case v1::Event::kEndpointStateChanged: {
      const v1::EndpointStateChanged& changed = event.endpoint_state_changed();
      facts = absl::StrCat("state=", StateText(changed.state()));
      if (changed.has_until()) AppendUntil(changed.until(), zone, &facts);
      AppendField("detail", changed.detail(), &facts);
      return facts;
    }
    case v1::Event::kKeyStateChanged: {
      const v1::KeyStateChanged& changed = event.key_state_changed();
      facts = absl::StrCat(
          "key=", EscapeName(changed.key_id()), " state=",
          EnumText(v1::KeyStatus::State_Name(changed.state()), "STATE_", changed.state()));
      if (changed.has_until()) AppendUntil(changed.until(), zone, &facts);
      return facts;
    }
    case v1::Event::KIND_NOT_SET:
      break;
  }
  return "sluicectl is older than the server";
}

/// The endpoint; the pool before there is one.
std::string Place(const v1::Event& event) {
  return event.endpoint().empty() ? EscapeName(event.pool()) : EndpointText(event.endpoint());
}

}  // namespace

std::string EventLine(const v1::Event& event, absl::TimeZone zone) {
  return absl::StrFormat("%s  %-8s  %-14s  %-16s  %-14s  %s\n",
                         absl::FormatTime("%H:%M:%E3S", ToTime(event.time()), zone),
                         ShortIdText(event.exchange()), NameOf(event.kind_case()),
                         EscapeName(event.model()), Place(event), FactsText(event, zone));
}

absl::Span<const KindName> KindNames() { return kKindNames; }

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

}  // namespace sluice::admin
