#include "lib/http/request_parser.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "lib/http/head_syntax.h"

namespace sluice::http {
namespace {

constexpr ChunkDecoder::Limits kChunkLimits = {.extension_bytes = 256, .trailer_bytes = 0};

HeadScanner::Limits ScannerLimits(const RequestParser::Limits& limits) {
  return {.head_bytes = limits.max_head_bytes,
          .start_line_bytes = limits.max_request_line,
          .field_line_bytes = limits.max_header_line,
          .fields = limits.max_headers};
}

Refusal ToRefusal(const HeadScanner& scanner) {
  switch (scanner.fault()) {
    case HeadScanner::Fault::kStartLineTooLong:
      return {Cause::kUriTooLong, scanner.FaultText()};
    case HeadScanner::Fault::kFieldLineTooLong:
    case HeadScanner::Fault::kTooManyFields:
    case HeadScanner::Fault::kHeadTooLong:
      return {Cause::kHeadTooLarge, scanner.FaultText()};
    default:
      return BadRequest(scanner.FaultText());
  }
}

}  // namespace

RequestParser::RequestParser(const Limits& limits)
    : limits_(limits), scanner_(ScannerLimits(limits)), decoder_(kChunkLimits) {}

RequestParser::Result RequestParser::Feed(absl::string_view bytes, size_t* consumed) {
  *consumed = 0;
  switch (state_) {
    case State::kHead:
      return FeedHead(bytes, consumed);
    case State::kBody:
      return FeedBody(bytes, consumed);
    case State::kDone:
      return Result::kDone;
    case State::kRefused:
      return Result::kRefused;
  }
  return Result::kRefused;
}

RequestParser::Result RequestParser::FeedHead(absl::string_view bytes, size_t* consumed) {
  while (true) {
    size_t taken = 0;
    const HeadScanner::Result result = scanner_.Scan(bytes.substr(*consumed), &taken);
    *consumed += taken;
    switch (result) {
      case HeadScanner::Result::kNeedMore:
        return Result::kNeedMore;
      case HeadScanner::Result::kFault:
        return Refuse(ToRefusal(scanner_));
      case HeadScanner::Result::kDone:
        return FinishHead();
      case HeadScanner::Result::kStartLine:
        if (const absl::Status line = CheckRequestLine(scanner_.head()); !line.ok()) {
          return Refuse(BadRequest(std::string(line.message())));
        }
    }
  }
}

RequestParser::Result RequestParser::FinishHead() {
  if (const absl::Status parsed = ParseRequestHead(scanner_.head(), &request_); !parsed.ok()) {
    return Refuse(BadRequest(std::string(parsed.message())));
  }
  const absl::StatusOr<BodyFraming> framing = FramingOf(request_.headers, request_.minor_version);
  if (!framing.ok()) return Refuse(BadRequest(std::string(framing.status().message())));
  if (auto refusal = ApplyRequestRules(&request_)) return Refuse(*std::move(refusal));
  framing_ = *framing;
  if (framing_.length > limits_.max_body_bytes) return RefuseBodySize();
  scanner_.Reset();
  state_ = State::kBody;
  return Result::kHeadDone;
}

RequestParser::Result RequestParser::FeedBody(absl::string_view bytes, size_t* consumed) {
  if (framing_.kind == BodyFraming::kChunked) return FeedChunks(bytes, consumed);
  *consumed = std::min<uint64_t>(bytes.size(), framing_.length - request_.body.size());
  request_.body.append(bytes.data(), *consumed);
  return request_.body.size() == framing_.length ? Done() : Result::kNeedMore;
}

RequestParser::Result RequestParser::FeedChunks(absl::string_view bytes, size_t* consumed) {
  absl::string_view unread = bytes;
  ChunkDecoder::Step step = ChunkDecoder::Step::kPayload;
  while (step == ChunkDecoder::Step::kPayload) {
    absl::string_view payload;
    step = decoder_.Next(&unread, &payload);
    const uint64_t room = limits_.max_body_bytes - request_.body.size();
    if (payload.size() > room || decoder_.chunk_remaining() > room - payload.size()) {
      return RefuseBodySize();
    }
    request_.body.append(payload.data(), payload.size());
  }
  *consumed = bytes.size() - unread.size();
  if (step == ChunkDecoder::Step::kEnd) return Done();
  if (step == ChunkDecoder::Step::kNeedMore) return Result::kNeedMore;
  return Refuse(BadRequest(std::string(decoder_.error())));
}

RequestParser::Result RequestParser::RefuseBodySize() {
  return Refuse({Cause::kBodyTooLarge,
                 absl::StrCat("body: over the limit of ", limits_.max_body_bytes, " bytes")});
}

RequestParser::Result RequestParser::Refuse(Refusal refusal) {
  refusal_ = std::move(refusal);
  state_ = State::kRefused;
  return Result::kRefused;
}

RequestParser::Result RequestParser::Done() {
  state_ = State::kDone;
  return Result::kDone;
}

}  // namespace sluice::http
