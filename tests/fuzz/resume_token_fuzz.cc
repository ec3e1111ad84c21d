// A resume token from a watcher: there is one text for each place, and nothing else is taken for
// one.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

#include "server/resume_token.h"
#include "tests/fuzz/pieces.h"

using sluice::server::ParseResumeToken;
using sluice::server::ResumeToken;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  if (const std::optional<ResumeToken> token = ParseResumeToken(text)) {
    FUZZ_CHECK(ToString(*token) == text);
  }
  ResumeToken token;
  if (size >= sizeof token.epoch + sizeof token.sequence) {
    std::memcpy(&token.epoch, data, sizeof token.epoch);
    std::memcpy(&token.sequence, data + sizeof token.epoch, sizeof token.sequence);
  }
  FUZZ_CHECK(ParseResumeToken(ToString(token)) == token);
  return 0;
}
