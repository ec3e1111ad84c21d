#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "lib/base/digest.h"
#include "lib/dialect/dialect.h"

namespace sluice::dialect {
namespace {

constexpr size_t kBlockBytes = 1024;
constexpr size_t kMaxBlocks = 256;

/// The prompt without the bracket or quote that ends it: another turn would go on there.
absl::string_view OpenEnded(absl::string_view prompt) {
  return prompt.substr(0, prompt.empty() ? 0 : prompt.size() - 1);
}

}  // namespace

std::vector<uint64_t> PromptBlocks(absl::string_view body, const RequestPeek& peek) {
  std::vector<uint64_t> blocks;
  Digest digest;
  size_t in_block = 0;
  for (absl::string_view part : {peek.preamble.In(body), OpenEnded(peek.prompt.In(body))}) {
    while (!part.empty() && blocks.size() < kMaxBlocks) {
      const absl::string_view bytes = part.substr(0, kBlockBytes - in_block);
      digest.Update(bytes);
      part.remove_prefix(bytes.size());
      in_block = (in_block + bytes.size()) % kBlockBytes;
      if (in_block == 0) blocks.push_back(digest.value());
    }
  }
  return blocks;
}

std::optional<uint64_t> ConversationHash(absl::string_view body, const RequestPeek& peek) {
  if (peek.prompt.empty()) return std::nullopt;
  Digest digest;
  digest.Update(peek.preamble.In(body));
  digest.Update(peek.opening.empty() ? peek.prompt.In(body).substr(0, kBlockBytes)
                                     : peek.opening.In(body));
  return digest.value();
}

}  // namespace sluice::dialect
