#include "lib/http/framing.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

#include "lib/http/grammar.h"

namespace sluice::http {

absl::StatusOr<BodyFraming> FramingOf(const HeaderList& headers, int minor_version) {
  const size_t codings = headers.Count("Transfer-Encoding");
  const size_t lengths = headers.Count("Content-Length");
  if (codings > 0 && lengths > 0) {
    return absl::InvalidArgumentError("Transfer-Encoding: sent together with Content-Length");
  }
  if (codings > 1) return absl::InvalidArgumentError("Transfer-Encoding: sent more than once");
  if (lengths > 1) return absl::InvalidArgumentError("Content-Length: sent more than once");

  if (codings == 1) {
    const std::string& coding = *headers.Find("Transfer-Encoding");
    if (minor_version == 0)
      return absl::InvalidArgumentError("Transfer-Encoding: sent in HTTP/1.0");
    if (absl::EqualsIgnoreCase(coding, "chunked")) return BodyFraming{BodyFraming::kChunked, 0};
    if (IsToken(coding)) {
      return absl::UnimplementedError("Transfer-Encoding: only `chunked` is understood");
    }
    return absl::InvalidArgumentError("Transfer-Encoding: only `chunked` alone is accepted");
  }

  if (lengths == 1) {
    const std::string& text = *headers.Find("Content-Length");
    uint64_t length = 0;
    if (!std::all_of(text.begin(), text.end(), absl::ascii_isdigit) ||
        !absl::SimpleAtoi(text, &length)) {
      return absl::InvalidArgumentError("Content-Length: not a number, or too large for one");
    }
    return BodyFraming{BodyFraming::kLength, length};
  }
  return BodyFraming{};
}

}  // namespace sluice::http
