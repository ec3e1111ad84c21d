#include "lib/dialect/usage.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/types/span.h"

namespace sluice::dialect {
namespace {

constexpr int64_t kMaxCount = (int64_t{1} << 53) - 1;

constexpr Count kOpenAiCounts[] = {Count::kPrompt, Count::kCompletion, Count::kTotal};
constexpr Count kResponsesCounts[] = {Count::kInput, Count::kOutput, Count::kTotal};
constexpr Count kAnthropicCounts[] = {Count::kInput, Count::kOutput, Count::kCacheCreation,
                                      Count::kCacheRead};

bool Usable(const UsageCounts& counts, absl::Span<const Count> names) {
  bool any = false;
  for (const Count name : names) {
    if (counts.IsBad(name)) return false;
    any |= counts.Get(name).has_value();
  }
  return any;
}

Usage OpenAiUsage(const UsageCounts& counts) {
  Usage usage;
  usage.prompt_tokens = counts.Get(Count::kPrompt).value_or(0);
  usage.completion_tokens = counts.Get(Count::kCompletion).value_or(0);
  usage.total_tokens =
      counts.Get(Count::kTotal).value_or(usage.prompt_tokens + usage.completion_tokens);
  usage.cached_tokens = counts.Get(Count::kPromptDetailsCached);
  usage.reasoning_tokens = counts.Get(Count::kCompletionDetailsReasoning);
  if (!usage.reasoning_tokens) usage.reasoning_tokens = counts.Get(Count::kReasoning);
  return usage;
}

Usage ResponsesUsage(const UsageCounts& counts) {
  Usage usage;
  usage.prompt_tokens = counts.Get(Count::kInput).value_or(0);
  usage.completion_tokens = counts.Get(Count::kOutput).value_or(0);
  usage.total_tokens =
      counts.Get(Count::kTotal).value_or(usage.prompt_tokens + usage.completion_tokens);
  usage.cached_tokens = counts.Get(Count::kInputDetailsCached);
  usage.reasoning_tokens = counts.Get(Count::kOutputDetailsReasoning);
  return usage;
}

Usage AnthropicUsage(const UsageCounts& counts) {
  Usage usage;
  usage.prompt_tokens = counts.Get(Count::kInput).value_or(0) +
                        counts.Get(Count::kCacheCreation).value_or(0) +
                        counts.Get(Count::kCacheRead).value_or(0);
  usage.completion_tokens = counts.Get(Count::kOutput).value_or(0);
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  usage.cached_tokens = counts.Get(Count::kCacheRead);
  usage.reasoning_tokens = counts.Get(Count::kOutputDetailsThinking);
  return usage;
}

}  // namespace

std::optional<int64_t> ParseCount(absl::string_view number) {
  for (const char c : number) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return std::nullopt;
  }
  int64_t count = 0;
  if (!absl::SimpleAtoi(number, &count) || count > kMaxCount) return std::nullopt;
  return count;
}

std::optional<int64_t> UsageCounts::Get(Count count) const {
  return At(count) < 0 ? std::nullopt : std::optional<int64_t>(At(count));
}

bool UsageReader::Take(const UsageCounts& counts) {
  switch (dialect_) {
    case Dialect::kOpenAiResponses:
      if (!Usable(counts, kResponsesCounts)) return false;
      usage_ = ResponsesUsage(counts);
      return true;
    case Dialect::kAnthropicMessages:
      if (!Usable(counts, kAnthropicCounts)) return false;
      Merge(counts);
      usage_ = AnthropicUsage(*merged_);
      return true;
    default:
      if (!Usable(counts, kOpenAiCounts)) return false;
      usage_ = OpenAiUsage(counts);
      return true;
  }
}

void UsageReader::Merge(const UsageCounts& counts) {
  if (merged_ == nullptr) merged_ = std::make_unique<UsageCounts>();
  for (size_t i = 0; i < kCounts; ++i) {
    const Count name = static_cast<Count>(i);
    if (counts.Get(name)) merged_->Set(name, *counts.Get(name));
  }
}

}  // namespace sluice::dialect
