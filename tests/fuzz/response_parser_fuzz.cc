// Feeds the same bytes whole and in pieces that the input itself chooses: the results must agree.
// Beast's own parser is the oracle for what passes: it must find the same body.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "tests/fuzz/pieces.h"
#include "tests/http/response_script.h"

using sluice::http::Describe;
using sluice::http::ReadResponse;
using sluice::http::ResponseOutcome;
using sluice::http::ResponseParser;

namespace {

namespace beast = boost::beast;

/// What Beast minds and we do not read: the words of chunk extensions and of dropped trailers.
bool IsOfIgnoredText(const beast::error_code& error) {
  using Error = beast::http::error;
  return error == Error::bad_chunk_extension || error == Error::bad_field ||
         error == Error::bad_value || error == Error::bad_content_length ||
         error == Error::bad_transfer_encoding;
}

/// The body of the first answer in `bytes` that is no interim one; nothing if Beast minds ignored
/// text.
std::optional<std::string> BodyByBeast(const std::string& bytes, bool eof, bool head_request) {
  size_t at = 0;
  while (true) {
    beast::http::response_parser<beast::http::string_body> parser;
    parser.skip(head_request);
    parser.eager(true);
    parser.header_limit(1 << 20);
    beast::error_code error;
    at += parser.put(boost::asio::const_buffer(bytes.data() + at, bytes.size() - at), error);
    if (eof && !parser.is_done() && (!error || error == beast::http::error::need_more)) {
      parser.put_eof(error);
    }
    if (parser.is_header_done() && IsOfIgnoredText(error)) return std::nullopt;
    FUZZ_CHECK(!error && parser.is_done());
    if (parser.get().result_int() >= 200) return parser.get().body();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sluice::fuzz::CutInput input(data, size);
  const std::string bytes(input.bytes());
  const bool eof = input.flag(0);
  const bool head_request = input.flag(1);
  const ResponseOutcome whole = ReadResponse(sluice::http::Whole(bytes), eof, head_request);
  FUZZ_CHECK(Describe(whole) == Describe(ReadResponse(input.pieces(), eof, head_request)));
  FUZZ_CHECK(Describe(whole) ==
             Describe(ReadResponse(sluice::http::ByteByByte(bytes), eof, head_request)));
  if (whole.result == ResponseParser::Result::kEnd) {
    const std::optional<std::string> body = BodyByBeast(bytes, eof, head_request);
    FUZZ_CHECK(!body.has_value() || whole.body == *body);
  }
  return 0;
}
