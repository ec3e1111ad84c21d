#include "tests/support/engine_request.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "tests/support/http_text.h"

namespace sluice::testing {
namespace {

/// What follows `"name" :` in a JSON text, outer blanks stripped; "" if there is no such member.
absl::string_view AfterMember(absl::string_view json, absl::string_view name) {
  for (size_t at = json.find(name); at != absl::string_view::npos; at = json.find(name, at + 1)) {
    absl::string_view rest = json.substr(at + name.size());
    const bool quoted = at > 0 && json[at - 1] == '"' && absl::ConsumePrefix(&rest, "\"");
    rest = absl::StripLeadingAsciiWhitespace(rest);
    if (quoted && absl::ConsumePrefix(&rest, ":")) return absl::StripLeadingAsciiWhitespace(rest);
  }
  return "";
}

std::vector<std::string> RequestLine(absl::string_view head) {
  return absl::StrSplit(head.substr(0, head.find_first_of("\r\n")), ' ');
}

/// Takes one line off `buffer`, its line end dropped; nothing if it is not whole.
std::optional<std::string> TakeLine(std::string* buffer) {
  const size_t end = buffer->find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line(absl::StripSuffix(absl::string_view(*buffer).substr(0, end), "\r"));
  buffer->erase(0, end + 1);
  return line;
}

}  // namespace

std::string EngineRequest::method() const { return RequestLine(head)[0]; }

std::string EngineRequest::target() const {
  const std::vector<std::string> parts = RequestLine(head);
  return parts.size() > 1 ? parts[1] : "";
}

std::string EngineRequest::path() const {
  const std::string whole = target();
  return whole.substr(0, whole.find('?'));
}

std::vector<std::string> EngineRequest::HeaderValues(absl::string_view name) const {
  return FieldValues(head, name);
}

std::string EngineRequest::model() const {
  absl::string_view rest = AfterMember(body, "model");
  if (!absl::ConsumePrefix(&rest, "\"")) return "";
  return std::string(rest.substr(0, rest.find('"')));
}

bool EngineRequest::stream() const { return absl::StartsWith(AfterMember(body, "stream"), "true"); }

std::optional<EngineRequest> RequestReader::Next() {
  if (!request_ && !TakeHead()) return std::nullopt;
  if (!(chunked_ ? TakeChunks() : TakeBody())) return std::nullopt;
  return std::exchange(request_, std::nullopt);
}

bool RequestReader::TakeHead() {
  for (size_t line_end = buffer_.find('\n', scanned_); line_end != std::string::npos;
       line_end = buffer_.find('\n', line_end + 1)) {
    absl::string_view next = absl::string_view(buffer_).substr(line_end + 1);
    absl::ConsumePrefix(&next, "\r");
    if (next.empty()) break;
    if (next[0] == '\n') {
      const size_t head_size = buffer_.size() - next.size() + 1;
      request_.emplace();
      request_->head = buffer_.substr(0, head_size);
      buffer_.erase(0, head_size);
      scanned_ = 0;
      chunked_ = false;
      body_left_ = 0;
      for (const std::string& coding : request_->HeaderValues("Transfer-Encoding")) {
        chunked_ = chunked_ || absl::StrContains(absl::AsciiStrToLower(coding), "chunked");
      }
      chunk_ = Chunk::kSize;
      for (const std::string& length : request_->HeaderValues("Content-Length")) {
        // A length that is no number counts as 0; the raw head shows it.
        if (!absl::SimpleAtoi(length, &body_left_)) body_left_ = 0;
      }
      return true;
    }
    scanned_ = line_end;
  }
  return false;
}

bool RequestReader::TakeBody() {
  const size_t taken = std::min<uint64_t>(body_left_, buffer_.size());
  request_->body.append(buffer_, 0, taken);
  buffer_.erase(0, taken);
  body_left_ -= taken;
  return body_left_ == 0;
}

bool RequestReader::TakeChunks() {
  while (true) {
    if (chunk_ == Chunk::kData) {
      if (!TakeBody()) return false;
      chunk_ = Chunk::kDataEnd;
    }
    const std::optional<std::string> line = TakeLine(&buffer_);
    if (!line) return false;
    switch (chunk_) {
      case Chunk::kSize:
        body_left_ = std::strtoull(line->c_str(), nullptr, 16);
        chunk_ = body_left_ == 0 ? Chunk::kTrailer : Chunk::kData;
        break;
      case Chunk::kTrailer:
        if (line->empty()) return true;
        break;
      case Chunk::kData:
      case Chunk::kDataEnd:
        chunk_ = Chunk::kSize;
        break;
    }
  }
}

}  // namespace sluice::testing
