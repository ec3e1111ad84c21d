#include "tests/support/engine_script.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sluice::testing {

Script& Script::Raw(absl::string_view bytes) { return Add(SendStep{std::string(bytes), false}); }

Script& Script::SseHead(absl::string_view extra) {
  return Raw(absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", extra,
                          "Transfer-Encoding: chunked\r\n\r\n"));
}

Script& Script::Json(absl::string_view body, absl::string_view status, absl::string_view extra) {
  return Add(SendStep{absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: application/json\r\n",
                                   extra, "Content-Length: ", body.size(), "\r\n\r\n", body),
                      true});
}

Script& Script::Piece(absl::string_view bytes) { return Add(SendStep{std::string(bytes), true}); }

Script& Script::Chunk(absl::string_view payload) {
  return Piece(absl::StrCat(absl::Hex(payload.size()), "\r\n", payload, "\r\n"));
}

Script& Script::Chunks(const std::vector<std::string>& payloads, Duration pause) {
  bool first = true;
  for (const std::string& payload : payloads) {
    if (!first && pause > Duration::zero()) Pause(pause);
    first = false;
    Chunk(payload);
  }
  return *this;
}

Script& Script::LastChunk(absl::string_view trailers) {
  return Raw(absl::StrCat("0\r\n", trailers, "\r\n"));
}

Script& Script::HalfChunk(absl::string_view payload, size_t declared_size) {
  return Piece(absl::StrCat(absl::Hex(declared_size), "\r\n", payload));
}

Script& Script::Pause(Duration length) { return Add(PauseStep{length}); }

Script& Script::Gate(absl::string_view name) { return Add(GateStep{std::string(name)}); }

Script& Script::Hold() { return Gate(""); }

Script& Script::Repeat(uint64_t times, const Script& body) {
  if (times == 0) return *this;
  const std::vector<ScriptStep> steps = body.steps();
  for (const ScriptStep& step : steps) Add(step);
  return Add(LoopStep{steps.size(), times});
}

Script& Script::Fin() { return Add(CloseStep{false}); }

Script& Script::Reset() { return Add(CloseStep{true}); }

std::optional<uint64_t> Script::piece_count() const {
  std::vector<uint64_t> before = {0};  // pieces sent when step i is reached, loops run out
  for (const ScriptStep& step : *steps_) {
    uint64_t pieces = before.back();
    if (const auto* send = std::get_if<SendStep>(&step)) {
      pieces += send->is_piece ? 1 : 0;
    } else if (const auto* loop = std::get_if<LoopStep>(&step)) {
      if (loop->times == kForever) return std::nullopt;
      const uint64_t in_body = pieces - before[before.size() - 1 - loop->length];
      pieces += in_body * (loop->times - 1);
    }
    before.push_back(pieces);
  }
  return before.back();
}

Script& Script::Add(ScriptStep step) {
  if (steps_.use_count() > 1) steps_ = std::make_shared<std::vector<ScriptStep>>(*steps_);
  steps_->push_back(std::move(step));
  return *this;
}

std::vector<std::string> SplitEvents(absl::string_view stream) {
  std::vector<std::string> events;
  size_t start = 0;
  bool line_is_blank = true;
  for (size_t i = 0; i < stream.size(); ++i) {
    if (stream[i] == '\n') {
      if (line_is_blank) {
        events.emplace_back(stream.substr(start, i + 1 - start));
        start = i + 1;
      }
      line_is_blank = true;
    } else if (stream[i] != '\r') {
      line_is_blank = false;
    }
  }
  if (start < stream.size()) events.emplace_back(stream.substr(start));
  return events;
}

std::vector<std::string> SplitBytes(absl::string_view stream, size_t piece_bytes) {
  std::vector<std::string> pieces;
  for (size_t i = 0; i < stream.size(); i += piece_bytes) {
    pieces.emplace_back(stream.substr(i, piece_bytes));
  }
  return pieces;
}

}  // namespace sluice::testing
