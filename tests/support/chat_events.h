#ifndef SLUICE_TESTS_SUPPORT_CHAT_EVENTS_H_
#define SLUICE_TESTS_SUPPORT_CHAT_EVENTS_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

/// The SSE events of a chat completion, as tests send them.
namespace sluice::testing {

inline constexpr absl::string_view kDoneEvent = "data: [DONE]\n\n";

/// `content` is JSON string text: already escaped.
inline std::string ContentEvent(absl::string_view content) {
  return absl::StrCat(R"(data: {"id":"t","choices":[{"index":0,"delta":{"content":")", content,
                      "\"}}]}\n\n");
}

inline std::string FinishEvent(absl::string_view reason = "stop") {
  return absl::StrCat(R"(data: {"id":"t","choices":[{"index":0,"delta":{},"finish_reason":")",
                      reason, "\"}]}\n\n");
}

inline std::string UsageEvent(int64_t prompt_tokens, int64_t completion_tokens) {
  return absl::StrCat(R"(data: {"id":"t","choices":[],"usage":{"prompt_tokens":)", prompt_tokens,
                      R"(,"completion_tokens":)", completion_tokens, "}}\n\n");
}

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_CHAT_EVENTS_H_
