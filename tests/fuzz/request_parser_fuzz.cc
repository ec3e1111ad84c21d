// Feeds the same bytes whole and in pieces that the input itself chooses: the results must agree,
// and what passes must be a request that no other reading of its head contradicts.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

#include "lib/http/grammar.h"
#include "tests/fuzz/pieces.h"
#include "tests/http/request_script.h"

using sluice::http::Describe;
using sluice::http::ReadRequest;
using sluice::http::RequestOutcome;
using sluice::http::RequestParser;

namespace {

// Small, so that inputs reach them.
constexpr RequestParser::Limits kLimits = {.max_head_bytes = 512,
                                           .max_request_line = 96,
                                           .max_header_line = 128,
                                           .max_headers = 8,
                                           .max_body_bytes = 256};

void CheckPassed(const RequestOutcome& outcome) {
  const sluice::Request& request = outcome.request;
  FUZZ_CHECK(request.body.size() <= kLimits.max_body_bytes);
  // One more: an absolute-form target gives HTTP/1.0 a Host it did not send.
  FUZZ_CHECK(request.headers.size() <= kLimits.max_headers + 1);
  FUZZ_CHECK(absl::StartsWith(request.target, "/") || request.target == "*");
  FUZZ_CHECK(request.headers.Count("Host") <= 1);
  FUZZ_CHECK(request.headers.Count("Content-Length") + request.headers.Count("Transfer-Encoding") <=
             1);
  for (const sluice::Header& field : request.headers) {
    FUZZ_CHECK(sluice::http::IsToken(field.name) && sluice::http::IsText(field.value));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sluice::fuzz::CutInput input(data, size);
  const RequestOutcome whole = ReadRequest(sluice::http::Whole(input.bytes()), kLimits);
  FUZZ_CHECK(Describe(whole) == Describe(ReadRequest(input.pieces(), kLimits)));
  FUZZ_CHECK(Describe(whole) ==
             Describe(ReadRequest(sluice::http::ByteByByte(input.bytes()), kLimits)));
  if (whole.result == RequestParser::Result::kDone) CheckPassed(whole);
  return 0;
}
