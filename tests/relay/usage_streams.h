#ifndef SLUICE_TESTS_RELAY_USAGE_STREAMS_H_
#define SLUICE_TESTS_RELAY_USAGE_STREAMS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/exchange/exchange.h"

namespace sluice::testing {

/// A stream whose usage is known, because it was written with it.
struct UsageStream {
  struct Event {
    std::string bytes;
    std::optional<Usage> usage = {};  // what the answer has reported by now, if this event reports
  };

  std::string path;           // what it answers
  std::string manner;         // how it reports, for people
  std::vector<Event> events;  // the last one ends the answer
};

/// The `number`-th one, always the same: of any dialect and any manner of reporting, with any line
/// ends, and with text that only looks like usage.
UsageStream MakeUsageStream(uint64_t number);

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_RELAY_USAGE_STREAMS_H_
