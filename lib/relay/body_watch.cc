#include "lib/relay/body_watch.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace sluice::relay {
namespace {

bool IsEncoded(const HeaderList& headers) {
  const std::string* encoding = headers.Find("Content-Encoding");
  return encoding != nullptr && !encoding->empty() &&
         !absl::EqualsIgnoreCase(*encoding, "identity");
}

/// The media type without its parameters (RFC 9110 section 8.3.1).
absl::string_view MediaType(const HeaderList& headers) {
  const std::string* type = headers.Find("Content-Type");
  if (type == nullptr) return "";
  return absl::StripAsciiWhitespace(absl::string_view(*type).substr(0, type->find(';')));
}

}  // namespace

BodyKind KindOfBody(const ResponseHead& head) {
  if (head.status < 200 || head.status > 299 || IsEncoded(head.headers)) return BodyKind::kOpaque;
  const absl::string_view type = MediaType(head.headers);
  if (absl::EqualsIgnoreCase(type, "text/event-stream")) return BodyKind::kEventStream;
  if (absl::EqualsIgnoreCase(type, "application/json")) return BodyKind::kJson;
  return BodyKind::kOpaque;
}

BodyWatch::BodyWatch(BodyKind kind, dialect::Dialect dialect, PassRules rules, Exchange& record,
                     Observer& observer)
    : dialect_(dialect), rules_(rules), record_(record), observer_(observer) {
  if (kind == BodyKind::kEventStream) events_.emplace(dialect);
  if (kind == BodyKind::kJson) json_ = std::make_unique<std::string>();
}

void BodyWatch::See(absl::string_view piece, Instant at) {
  if (events_.has_value()) {
    events_->splitter.Feed(piece, [this, at](const sse::Frame& frame) { OnFrame(frame, at); });
  } else if (json_ != nullptr) {
    if (json_->size() + piece.size() > kMaxJsonCopy) {
      json_.reset();
    } else {
      json_->append(piece.data(), piece.size());
    }
  }
}

void BodyWatch::OnFrame(const sse::Frame& frame, Instant at) {
  const dialect::FrameView view = events_->reader.Read(frame);
  ended_ |= view.done;
  errored_ |= view.error;
  const bool passed = rules_.Pass(view);
  told_ |= passed && (view.done || view.error);
  // An error line may be the error, but is no event.
  if (passed && !frame.error_line) TellFrame(frame, view, at);
  if (view.usage_changed) {
    record_.usage = events_->reader.usage();
    observer_.OnUsage(record_, *record_.usage);
  }
}

void BodyWatch::TellFrame(const sse::Frame& frame, const dialect::FrameView& view, Instant at) {
  Stamps& stamps = record_.stamps;
  const bool first_valid = view.valid && !stamps.first_frame.has_value();
  if (first_valid) stamps.first_frame = at;
  if (view.content && !stamps.first_content.has_value()) stamps.first_content = at;
  if (const absl::string_view reason = events_->reader.finish_reason();
      reason != record_.finish_reason) {
    record_.finish_reason = std::string(reason);
  }

  FrameInfo info;
  info.index = record_.frames++;
  info.start = frame.start;
  info.end = frame.end;
  info.event = frame.event;
  info.data = frame.data;
  info.at = at;
  info.gap = at - last_frame_at_.value_or(stamps.accepted);
  info.valid = view.valid;
  info.first_valid = first_valid;
  if (last_frame_at_.has_value()) record_.gaps.Add(info.gap);
  last_frame_at_ = at;
  observer_.OnFrame(record_, info);
}

Cause BodyWatch::SeeEnd(Instant at) {
  if (json_ != nullptr) return EndOfJson();
  if (!events_.has_value()) return Cause::kCompleted;
  events_->splitter.Finish([this, at](const sse::Frame& frame) { OnFrame(frame, at); });
  switch (events_->reader.End(events_->splitter.tail())) {
    case dialect::Terminal::kCleanDone:
    case dialect::Terminal::kCleanEofWithoutDone:
      return Cause::kCompleted;
    case dialect::Terminal::kErrorEvent:
      return Cause::kUpstreamErrorFrame;
    case dialect::Terminal::kTruncated:
      break;
  }
  return Cause::kTruncated;
}

Cause BodyWatch::EndOfJson() {
  dialect::BodyView body = dialect::ReadBody(dialect_, *json_);
  record_.usage = body.usage;
  if (record_.usage.has_value()) observer_.OnUsage(record_, *record_.usage);
  // Elsewhere a body may hold several JSON texts, or none, whatever its type says.
  if (!body.complete && dialect_ != dialect::Dialect::kNone) return Cause::kTruncated;
  if (!body.error.has_value()) return Cause::kCompleted;
  json_error_ = std::make_unique<dialect::UpstreamError>(*std::move(body.error));
  return Cause::kUpstreamErrorFrame;
}

}  // namespace sluice::relay
