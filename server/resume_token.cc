#include "server/resume_token.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace sluice::server {

std::string ToString(const ResumeToken& token) {
  return absl::StrFormat("%016x%016x", token.epoch, token.sequence);
}

std::optional<ResumeToken> ParseResumeToken(absl::string_view text) {
  ResumeToken token;
  if (text.size() != 32 || !absl::SimpleHexAtoi(text.substr(0, 16), &token.epoch) ||
      !absl::SimpleHexAtoi(text.substr(16), &token.sequence) || ToString(token) != text) {
    return std::nullopt;
  }
  return token;
}

}  // namespace sluice::server
