#ifndef SLUICE_LIB_BASE_IDS_H_
#define SLUICE_LIB_BASE_IDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace sluice {

/// Names one exchange. Unique within a boot, and between boots with overwhelming likelihood: the
/// upper 32 bits are random per boot, the lower 32 count. Shown as `x` and 16 hex digits, e.g.
/// `x5f3a09c100000001`.
struct ExchangeId {
  uint64_t value = 0;
  friend bool operator==(const ExchangeId&, const ExchangeId&) = default;
};

std::string ToString(ExchangeId id);
/// The reverse of ToString; nothing unless the text is exactly of that form.
std::optional<ExchangeId> ParseExchangeId(absl::string_view text);

/// The next id of this process. Thread-safe.
ExchangeId NextExchangeId();

/// Random per process, for resume tokens: a token of another boot is recognised as such.
uint64_t BootEpoch();

/// Whether a client's `X-Request-Id` may be kept as it is: 1 to 128 bytes of letters, digits and
/// `-_.:/+=@`.
bool IsSaneRequestId(absl::string_view text);

/// 16 random bytes as hex, never all zero: a W3C trace id; the first half is a span id.
std::string RandomTraceId();

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_IDS_H_
