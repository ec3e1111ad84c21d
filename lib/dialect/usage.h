#ifndef SLUICE_LIB_DIALECT_USAGE_H_
#define SLUICE_LIB_DIALECT_USAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/strings/string_view.h"

#include "lib/dialect/dialect.h"
#include "lib/exchange/exchange.h"

/// Private to lib/dialect: from the members of a `usage` object to token counts (rules 3
/// and 4).
namespace sluice::dialect {

/// Every count that some dialect reports, by its place in the `usage` object.
enum class Count {
  kPrompt,
  kCompletion,
  kTotal,
  kInput,
  kOutput,
  kCacheCreation,
  kCacheRead,
  kReasoning,
  kPromptDetailsCached,
  kCompletionDetailsReasoning,
  kInputDetailsCached,
  kOutputDetailsReasoning,
  kOutputDetailsThinking,
};
inline constexpr size_t kCounts = static_cast<size_t>(Count::kOutputDetailsThinking) + 1;

/// The counts of one `usage` object as they were sent.
class UsageCounts {
 public:
  UsageCounts() { counts_.fill(kAbsent); }

  /// `value` must not be negative.
  void Set(Count count, int64_t value) { At(count) = value; }
  void SetBad(Count count) { At(count) = kBad; }
  void SetAbsent(Count count) { At(count) = kAbsent; }

  bool IsBad(Count count) const { return At(count) == kBad; }
  std::optional<int64_t> Get(Count count) const;

 private:
  static constexpr int64_t kAbsent = -1;
  static constexpr int64_t kBad = -2;

  int64_t& At(Count count) { return counts_[static_cast<size_t>(count)]; }
  int64_t At(Count count) const { return counts_[static_cast<size_t>(count)]; }

  std::array<int64_t, kCounts> counts_;
};

/// A token count from the text of a JSON number: an integer from 0 to 2^53-1, or nothing.
std::optional<int64_t> ParseCount(absl::string_view number);

/// The usage one answer has reported so far.
class UsageReader {
 public:
  explicit UsageReader(Dialect dialect) : dialect_(dialect) {}

  /// Takes one more `usage` object. False, and nothing changes, when it is unusable: none of the
  /// dialect's counts, or one that is bad. Anthropic's counts add up over a stream: each object
  /// replaces those it has.
  bool Take(const UsageCounts& counts);

  const std::optional<Usage>& usage() const { return usage_; }

 private:
  void Merge(const UsageCounts& counts);

  Dialect dialect_;
  std::optional<Usage> usage_;
  std::unique_ptr<UsageCounts> merged_;  // of Anthropic's stream, once there are any
};

}  // namespace sluice::dialect

#endif  // SLUICE_LIB_DIALECT_USAGE_H_
