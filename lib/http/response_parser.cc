#include "lib/http/response_parser.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "lib/http/head_syntax.h"

namespace sluice::http {
namespace {

constexpr HeadScanner::Limits kHeadLimits = {.head_bytes = 64 << 10,
                                             .start_line_bytes = 8 << 10,
                                             .field_line_bytes = 64 << 10,
                                             .fields = 200};
constexpr ChunkDecoder::Limits kChunkLimits = {.extension_bytes = 4 << 10,
                                               .trailer_bytes = 8 << 10};
constexpr int kMaxInterimAnswers = 10;

}  // namespace

ResponseParser::ResponseParser(bool head_request)
    : head_request_(head_request), scanner_(kHeadLimits), decoder_(kChunkLimits) {}

void ResponseParser::Feed(char* data, size_t size) {
  next_ = data;
  end_ = data + size;
  any_bytes_ |= size > 0;
}

ResponseParser::Result ResponseParser::Next() {
  switch (state_) {
    case State::kHead:
      return NextInHead();
    case State::kBody:
      return NextInBody();
    case State::kEnd:
      return Result::kEnd;
    case State::kError:
      return Result::kError;
  }
  return Result::kError;
}

ResponseParser::Result ResponseParser::NextInHead() {
  while (true) {
    size_t taken = 0;
    const HeadScanner::Result result = scanner_.Scan(unread(), &taken);
    next_ += taken;
    switch (result) {
      case HeadScanner::Result::kNeedMore:
        return Result::kNeedMore;
      case HeadScanner::Result::kFault:
        return Fail(Cause::kUpstreamProtocol, scanner_.FaultText());
      case HeadScanner::Result::kStartLine:
        if (const absl::Status line = CheckStatusLine(scanner_.head()); !line.ok()) {
          return Fail(Cause::kUpstreamProtocol, line.message());
        }
        break;
      case HeadScanner::Result::kDone:
        if (const Result head = FinishHead(); head != Result::kNeedMore) return head;
    }
  }
}

/// Gives kNeedMore when the head was that of an interim answer.
ResponseParser::Result ResponseParser::FinishHead() {
  ResponseHead head;
  if (const absl::Status parsed = ParseResponseHead(scanner_.head(), &head); !parsed.ok()) {
    return Fail(Cause::kUpstreamProtocol, parsed.message());
  }
  const absl::StatusOr<BodyFraming> framing = FramingOf(head.headers, head.minor_version);
  if (!framing.ok()) return Fail(Cause::kUpstreamProtocol, framing.status().message());
  scanner_.Reset();
  if (head.status < 200) return SkipInterim(head.status);

  head_ = std::move(head);
  framing_ = *framing;
  if (head_request_ || head_.status == 204 || head_.status == 304) {
    framing_ = {BodyFraming::kLength, 0};
  }
  persistent_ = head_.minor_version == 1 && framing_.kind != BodyFraming::kUnspecified &&
                !head_.headers.HasToken("Connection", "close");
  const bool empty = framing_.kind == BodyFraming::kLength && framing_.length == 0;
  state_ = empty ? State::kEnd : State::kBody;
  return Result::kHead;
}

ResponseParser::Result ResponseParser::SkipInterim(int status) {
  if (status < 100) return Fail(Cause::kUpstreamProtocol, "status line: status below 100");
  if (status == 101)
    return Fail(Cause::kUpstreamProtocol, "status line: 101, no upgrade was asked for");
  if (++interim_answers_ > kMaxInterimAnswers) {
    return Fail(Cause::kUpstreamProtocol,
                absl::StrCat("more than ", kMaxInterimAnswers, " interim answers"));
  }
  return Result::kNeedMore;
}

ResponseParser::Result ResponseParser::NextInBody() {
  if (framing_.kind == BodyFraming::kChunked) return NextInChunks();
  body_ = unread();
  if (framing_.kind == BodyFraming::kLength) {
    body_ = body_.substr(0, framing_.length);
    framing_.length -= body_.size();
    if (framing_.length == 0) state_ = State::kEnd;
  }
  next_ += body_.size();
  return body_.empty() ? Result::kNeedMore : Result::kBody;
}

/// Payloads behind the first one move left, over the chunk headers between them.
ResponseParser::Result ResponseParser::NextInChunks() {
  char* const data = next_;
  absl::string_view coded = unread();
  char* body_begin = nullptr;
  char* body_end = nullptr;
  absl::string_view payload;
  ChunkDecoder::Step step;
  while ((step = decoder_.Next(&coded, &payload)) == ChunkDecoder::Step::kPayload) {
    char* const source = data + (payload.data() - data);
    if (body_begin == nullptr) {
      body_begin = body_end = source;
    } else {
      std::memmove(body_end, source, payload.size());
    }
    body_end += payload.size();
  }
  next_ = data + (coded.data() - data);
  if (step == ChunkDecoder::Step::kEnd) state_ = State::kEnd;
  body_ = {body_begin, static_cast<size_t>(body_end - body_begin)};
  if (!body_.empty()) return Result::kBody;
  if (step == ChunkDecoder::Step::kError) return Fail(Cause::kUpstreamProtocol, decoder_.error());
  return step == ChunkDecoder::Step::kEnd ? Result::kEnd : Result::kNeedMore;
}

ResponseParser::Result ResponseParser::FinishOnEof() {
  switch (state_) {
    case State::kEnd:
      return Result::kEnd;
    case State::kError:
      return Result::kError;
    case State::kHead:
      if (!any_bytes_) return Fail(Cause::kUpstreamReset, "closed before any byte of an answer");
      return Fail(Cause::kTruncated, "closed before the end of the head");
    case State::kBody:
      break;
  }
  switch (framing_.kind) {
    case BodyFraming::kUnspecified:
      state_ = State::kEnd;
      return Result::kEnd;
    case BodyFraming::kChunked:
      return Fail(Cause::kTruncated, "closed before the last chunk");
    case BodyFraming::kLength:
      break;
  }
  return Fail(Cause::kTruncated,
              absl::StrCat("closed ", framing_.length, " bytes before the end of the body"));
}

ResponseParser::Result ResponseParser::Fail(Cause cause, absl::string_view detail) {
  failure_ = {cause, std::string(detail)};
  state_ = State::kError;
  return Result::kError;
}

}  // namespace sluice::http
