#include "lib/dialect/json_path.h"

#include "absl/container/flat_hash_map.h"

namespace sluice::dialect {

Name NameOf(absl::string_view key) {
  static const auto& names = *new absl::flat_hash_map<absl::string_view, Name>{
      {"arguments", kArguments},
      {"cache_creation_input_tokens", kCacheCreationInputTokens},
      {"cache_read_input_tokens", kCacheReadInputTokens},
      {"cached_tokens", kCachedTokens},
      {"choices", kChoices},
      {"code", kCode},
      {"completion_tokens", kCompletionTokens},
      {"completion_tokens_details", kCompletionTokensDetails},
      {"content", kContent},
      {"content_block", kContentBlock},
      {"created", kCreated},
      {"delta", kDelta},
      {"error", kError},
      {"error_type", kErrorType},
      {"finish_reason", kFinishReason},
      {"function", kFunction},
      {"function_call", kFunctionCall},
      {"incomplete_details", kIncompleteDetails},
      {"index", kIndex},
      {"input_tokens", kInputTokens},
      {"input_tokens_details", kInputTokensDetails},
      {"message", kMessage},
      {"obfuscation", kObfuscation},
      {"object", kObject},
      {"output_tokens", kOutputTokens},
      {"output_tokens_details", kOutputTokensDetails},
      {"partial_json", kPartialJson},
      {"prompt_tokens", kPromptTokens},
      {"prompt_tokens_details", kPromptTokensDetails},
      {"reason", kReason},
      {"reasoning", kReasoning},
      {"reasoning_content", kReasoningContent},
      {"reasoning_tokens", kReasoningTokens},
      {"refusal", kRefusal},
      {"response", kResponse},
      {"sequence_number", kSequenceNumber},
      {"status", kStatus},
      {"stop_reason", kStopReason},
      {"text", kText},
      {"thinking", kThinking},
      {"thinking_tokens", kThinkingTokens},
      {"tool_calls", kToolCalls},
      {"total_tokens", kTotalTokens},
      {"type", kType},
      {"usage", kUsage},
  };
  const auto it = names.find(key);
  return it == names.end() ? kOther : it->second;
}

}  // namespace sluice::dialect
