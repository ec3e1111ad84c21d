#ifndef SLUICE_TESTS_FUZZ_SSE_REFERENCE_H_
#define SLUICE_TESTS_FUZZ_SSE_REFERENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sluice::fuzz {

/// An event of a stream, and where in the stream its block lies.
struct ReferenceEvent {
  std::string event;
  std::string data;
  uint64_t start = 0;
  uint64_t end = 0;
};

/// The events of a whole stream, word for word as WHATWG HTML 9.2.6 tells how to interpret one.
/// Written from the standard alone, to be compared with the splitter; it shares no line with it.
inline std::vector<ReferenceEvent> EventsByTheStandard(absl::string_view stream) {
  std::vector<ReferenceEvent> events;
  uint64_t at = stream.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
  std::string data_buffer;
  std::string event_type_buffer;
  uint64_t block_start = at;
  while (true) {
    const size_t line_end = stream.find_first_of("\r\n", at);
    // What no line end follows is discarded at the end of the file.
    if (line_end == absl::string_view::npos) return events;
    const absl::string_view line = stream.substr(at, line_end - at);
    at = stream.substr(line_end, 2) == "\r\n" ? line_end + 2 : line_end + 1;

    if (line.empty()) {
      if (!data_buffer.empty()) {
        data_buffer.pop_back();  // the LF behind the last line
        events.push_back({event_type_buffer, data_buffer, block_start, at});
      }
      data_buffer.clear();
      event_type_buffer.clear();
      block_start = at;
      continue;
    }
    const size_t colon = line.find(':');
    const absl::string_view field = line.substr(0, colon);
    absl::string_view value;
    if (colon != absl::string_view::npos) value = line.substr(colon + 1);
    if (value.substr(0, 1) == " ") value = value.substr(1);
    if (field == "event") event_type_buffer = std::string(value);
    if (field == "data") data_buffer.append(value.data(), value.size()).append("\n");
  }
}

}  // namespace sluice::fuzz

#endif  // SLUICE_TESTS_FUZZ_SSE_REFERENCE_H_
