// A stream gives the same frames however it is cut, and they are those of the standard.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/sse/splitter.h"
#include "tests/fuzz/pieces.h"
#include "tests/fuzz/sse_reference.h"

namespace sluice::sse {
namespace {

struct Copy {
  std::string event;
  std::string data;
  uint64_t start;
  uint64_t end;
  bool oversize;
  bool error_line;
  std::vector<Range> ranges;
  friend bool operator==(const Copy&, const Copy&) = default;
};

struct Outcome {
  std::vector<Copy> frames;
  std::optional<std::string> tail;
  bool inside_event;
  uint64_t comments;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void CheckFrame(const Frame& frame, uint64_t offset, uint64_t previous_end, size_t limit) {
  FUZZ_CHECK(frame.start < frame.end && frame.end <= offset);
  FUZZ_CHECK(frame.error_line || frame.start >= previous_end);
  FUZZ_CHECK(frame.data.size() + frame.event.size() <= limit);
  FUZZ_CHECK(frame.ranges.empty() == (frame.error_line || frame.oversize));
  uint64_t at = frame.start;
  for (const Range& range : frame.ranges) {
    FUZZ_CHECK(range.start >= at && range.end > range.start);
    at = range.end;
  }
  FUZZ_CHECK(frame.ranges.empty() || at == frame.end);
}

template <typename Piece>
Outcome Split(const std::vector<Piece>& pieces, size_t limit) {
  Outcome out;
  Splitter splitter(limit);
  uint64_t previous_end = 0;
  const auto see = [&](const Frame& frame) {
    CheckFrame(frame, splitter.offset(), previous_end, limit);
    if (!frame.error_line) previous_end = frame.end;
    out.frames.push_back({std::string(frame.event),
                          std::string(frame.data),
                          frame.start,
                          frame.end,
                          frame.oversize,
                          frame.error_line,
                          {frame.ranges.begin(), frame.ranges.end()}});
  };
  for (const Piece& piece : pieces) splitter.Feed(piece, see);
  out.inside_event = splitter.inside_event();
  splitter.Finish(see);
  FUZZ_CHECK(splitter.inside_event() == out.inside_event);
  out.tail = splitter.tail();
  out.comments = splitter.comments();
  return out;
}

void CheckByTheStandard(const Outcome& got, absl::string_view stream) {
  const std::vector<fuzz::ReferenceEvent> wanted = fuzz::EventsByTheStandard(stream);
  size_t events = 0;
  for (const Copy& frame : got.frames) {
    if (frame.error_line) continue;
    FUZZ_CHECK(events < wanted.size());
    const fuzz::ReferenceEvent& event = wanted[events++];
    FUZZ_CHECK(frame.start == event.start && frame.end == event.end);
    FUZZ_CHECK(frame.oversize || (frame.event == event.event && frame.data == event.data));
  }
  FUZZ_CHECK(events == wanted.size());
}

}  // namespace
}  // namespace sluice::sse

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sluice::sse::Split;
  const sluice::fuzz::CutInput input(data, size);
  const size_t limit = input.flag(0) ? 32 : size_t{1} << 20;
  const auto whole = Split(std::vector<absl::string_view>{input.bytes()}, limit);
  FUZZ_CHECK(whole == Split(input.pieces(), limit));
  std::vector<absl::string_view> bytes;
  for (size_t i = 0; i < input.bytes().size(); ++i) bytes.push_back(input.bytes().substr(i, 1));
  FUZZ_CHECK(whole == Split(bytes, limit));
  sluice::sse::CheckByTheStandard(whole, input.bytes());
  return 0;
}
