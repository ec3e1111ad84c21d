#ifndef SLUICE_LIB_DIALECT_JSON_PATH_H_
#define SLUICE_LIB_DIALECT_JSON_PATH_H_

#include <cstdint>

#include "absl/strings/string_view.h"

/// Private to lib/dialect: where in an answer a value stands.
namespace sluice::dialect {

/// The keys that some path is made of. One byte each, not zero.
enum Name : uint8_t {
  kOther = 1,  // any key not listed here
  kItem,       // any element of an array
  kArguments,
  kCacheCreationInputTokens,
  kCacheReadInputTokens,
  kCachedTokens,
  kChoices,
  kCode,
  kCompletionTokens,
  kCompletionTokensDetails,
  kContent,
  kContentBlock,
  kCreated,
  kDelta,
  kError,
  kErrorType,
  kFinishReason,
  kFunction,
  kFunctionCall,
  kIncompleteDetails,
  kIndex,
  kInputTokens,
  kInputTokensDetails,
  kMessage,
  kObfuscation,
  kObject,
  kOutputTokens,
  kOutputTokensDetails,
  kPartialJson,
  kPromptTokens,
  kPromptTokensDetails,
  kReason,
  kReasoning,
  kReasoningContent,
  kReasoningTokens,
  kRefusal,
  kResponse,
  kSequenceNumber,
  kStatus,
  kStopReason,
  kText,
  kThinking,
  kThinkingTokens,
  kToolCalls,
  kTotalTokens,
  kType,
  kUsage,
};

Name NameOf(absl::string_view key);

/// The place of a value: the names from the root to it, a byte each, the last one lowest. The root
/// is 0.
using Path = uint64_t;
inline constexpr int kMaxPathLength = 8;

template <typename... Names>
constexpr Path At(Names... names) {
  static_assert(sizeof...(names) <= kMaxPathLength);
  Path path = 0;
  ((path = path << 8 | names), ...);
  return path;
}

}  // namespace sluice::dialect

#endif  // SLUICE_LIB_DIALECT_JSON_PATH_H_
