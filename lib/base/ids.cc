#include "lib/base/ids.h"

#include <atomic>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace sluice {
namespace {

uint64_t RandomWord() {
  // One engine a thread, seeded from the system: unguessable enough for names, which are no
  // secrets.
  thread_local std::mt19937_64 engine = [] {
    std::random_device device;
    return std::mt19937_64((uint64_t{device()} << 32) | device());
  }();
  return engine();
}

}  // namespace

std::string ToString(ExchangeId id) {
  return absl::StrCat("x", absl::Hex(id.value, absl::kZeroPad16));
}

std::optional<ExchangeId> ParseExchangeId(absl::string_view text) {
  if (text.size() != 17 || text[0] != 'x') return std::nullopt;
  uint64_t value = 0;
  for (const char c : text.substr(1)) {
    if (!absl::ascii_isxdigit(c) || absl::ascii_isupper(c)) return std::nullopt;
    value = value << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return ExchangeId{value};
}

ExchangeId NextExchangeId() {
  static const uint64_t prefix = RandomWord() << 32;
  static std::atomic<uint32_t> counter{0};
  return ExchangeId{prefix | ++counter};
}

uint64_t BootEpoch() {
  static const uint64_t epoch = RandomWord();
  return epoch;
}

bool IsSaneRequestId(absl::string_view text) {
  if (text.empty() || text.size() > 128) return false;
  for (const char c : text) {
    if (!absl::ascii_isalnum(c) &&
        absl::string_view("-_.:/+=@").find(c) == absl::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::string RandomTraceId() {
  // The low bit keeps each half from being all zero, which W3C Trace Context forbids.
  return absl::StrCat(absl::Hex(RandomWord() | 1, absl::kZeroPad16),
                      absl::Hex(RandomWord() | 1, absl::kZeroPad16));
}

}  // namespace sluice
