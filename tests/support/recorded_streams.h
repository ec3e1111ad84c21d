#ifndef SLUICE_TESTS_SUPPORT_RECORDED_STREAMS_H_
#define SLUICE_TESTS_SUPPORT_RECORDED_STREAMS_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "lib/exchange/exchange.h"

namespace sluice::testing {

/// One of the bodies under tests/data/streams with what it must come to; the keys are explained in
/// the README there.
struct RecordedStream {
  struct Event {
    std::string name;  // "" for none
    std::string data;
    uint64_t start = 0;
    uint64_t end = 0;
    bool valid = false;
  };

  std::string name;
  std::string body;
  std::string dialect;
  std::string content_type;
  int http_status = 0;
  std::vector<Event> events;
  std::optional<Usage> usage;
  std::string terminal;
  std::string finish_reason;  // "" for none
  std::optional<bool> on_done;
  std::optional<size_t> first_frame_index;
  bool failover_before_commit = false;
  std::vector<std::pair<uint64_t, uint64_t>> valid_ranges;  // what a strict relay passes
  bool is_event_stream = false;
};

/// All of them, by name. Ends the test program when the data is not there or not readable.
const std::vector<RecordedStream>& RecordedStreams();
const RecordedStream& RecordedStreamNamed(const std::string& name);

/// The name, so that a parameterised test says what failed.
void PrintTo(const RecordedStream& stream, std::ostream* out);

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_RECORDED_STREAMS_H_
