#ifndef SLUICE_LIB_DIALECT_JSON_H_
#define SLUICE_LIB_DIALECT_JSON_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "rapidjson/memorystream.h"
#include "rapidjson/reader.h"

/// Private to lib/dialect: how a peer's JSON is read. Always as a stream of events, never as a
/// document.
namespace sluice::dialect {

/// Handlers stop here. RapidJSON's own stack takes 8 bytes a level; no engine reads as deep.
inline constexpr int kMaxJsonDepth = 1 << 16;

enum class Utf8 { kChecked, kUnchecked };

/// A copy in which RapidJSON 1.1 can read what RFC 8259 allows and it refuses: half a surrogate
/// pair escaped in a string becomes \ufffd, and numbers beyond a double lose digits (they stay
/// non-integers, or longer than any count), for which they get blanks behind them. So every value
/// starts where it did. What is not JSON does not become it.
std::string ReadableCopy(absl::string_view json);

template <Utf8 utf8, typename Handler>
rapidjson::ParseErrorCode ReadJsonOnce(absl::string_view text, Handler& handler, size_t start) {
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag |
                              rapidjson::kParseNumbersAsStringsFlag |
                              (utf8 == Utf8::kChecked ? rapidjson::kParseValidateEncodingFlag : 0);
  rapidjson::MemoryStream source(text.data(), text.size());
  source.src_ += start;
  handler.Begin(source);
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(source, handler);
  if (result.IsError()) return result.Code();
  // To RapidJSON a NUL is the end of the text.
  return source.Tell() == text.size() ? rapidjson::kParseErrorNone
                                      : rapidjson::kParseErrorDocumentRootNotSingular;
}

/// Hands the events of `text` to `handler` and returns whether it is one whole JSON text that the
/// handler did not stop. `handler.Begin(source)` comes first, and again if the text has to be read
/// a second time, from a ReadableCopy; the offsets of `source` are those of `text` in both. Numbers
/// come as RawNumber. The text begins at `start`; offsets count from its front all the same.
template <Utf8 utf8, typename Handler>
bool ReadJson(absl::string_view text, Handler& handler, size_t start = 0) {
  rapidjson::ParseErrorCode error = ReadJsonOnce<utf8>(text, handler, start);
  if (error == rapidjson::kParseErrorStringUnicodeSurrogateInvalid ||
      error == rapidjson::kParseErrorNumberTooBig) {
    error = ReadJsonOnce<utf8>(ReadableCopy(text), handler, start);
  }
  return error == rapidjson::kParseErrorNone;
}

/// How long the byte order mark is that a request's body may begin with: RFC 8259 section 8.1
/// allows to ignore one, and engines do. (In an event it is no JSON: clients' parsers refuse it.)
size_t ByteOrderMarkLength(absl::string_view body);

/// The length of the UTF-8 sequence (RFC 3629) at the start of `text`, or 0 when there is none.
size_t Utf8SequenceLength(absl::string_view text);
bool IsUtf8(absl::string_view text);
/// `text` with U+FFFD for each byte that is no part of such a sequence. Strings that leave the
/// dialects go through it: the second half of a surrogate pair, escaped alone, decodes to such
/// bytes.
std::string ReplaceInvalidUtf8(absl::string_view text);

}  // namespace sluice::dialect

#endif  // SLUICE_LIB_DIALECT_JSON_H_
