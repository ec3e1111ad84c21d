#ifndef SLUICE_TESTS_SSE_STREAM_FIXTURES_H_
#define SLUICE_TESTS_SSE_STREAM_FIXTURES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/exchange/exchange.h"

namespace sluice {

/// One event of a recorded stream.
struct FixtureEvent {
  std::string event;  // "" when there is none
  std::string data;
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t earliest = 0;  // when it may be delivered first
  bool valid = false;     // JSON or `[DONE]`
};

struct FixtureError {
  std::string message;
  std::string type;
  std::string code;
  std::optional<size_t> event;  // absent: an `error:` line, or a JSON body
};

/// A body of tests/data/streams with what is to be made of it; the README there names the keys.
struct Fixture {
  std::string name;
  std::string dialect;
  bool is_json = false;
  std::string body;

  std::vector<FixtureEvent> events;
  std::vector<std::pair<uint64_t, uint64_t>> valid_frames;
  uint64_t strict_relay_bytes = 0;
  std::string strict_relay_sha256;
  uint64_t comments = 0;
  bool has_tail = false;
  bool tail_reads_done = false;

  std::string terminal;
  std::string finish_reason;
  std::optional<Usage> usage;
  std::optional<size_t> usage_event;
  std::optional<FixtureError> error;
  std::optional<size_t> first_frame;
  bool first_frame_is_error = false;
  std::optional<bool> failover_ok_before_commit;
};

/// All of them, read once. Ends the process when a file is missing or its digest differs.
const std::vector<Fixture>& Fixtures();
std::vector<Fixture> EventStreamFixtures();
std::vector<Fixture> JsonFixtures();
const Fixture& FixtureNamed(absl::string_view name);

/// The sizes at which each body is read.
inline constexpr size_t kReadSizes[] = {1, 7, 64, 65536};

/// `body` in pieces of `size` bytes, the last one shorter.
std::vector<absl::string_view> Pieces(absl::string_view body, size_t size);

std::string Sha256Hex(absl::string_view bytes);

/// For parameterised tests.
inline void PrintTo(const Fixture& fixture, std::ostream* out) { *out << fixture.name; }
inline constexpr auto NameOfFixture = [](const auto& param_info) { return param_info.param.name; };

}  // namespace sluice

#endif  // SLUICE_TESTS_SSE_STREAM_FIXTURES_H_
