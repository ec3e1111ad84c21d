#include "lib/http/chunk_decoder.h"

#include <algorithm>

#include "absl/strings/ascii.h"

#include "lib/http/grammar.h"

namespace sluice::http {
namespace {

constexpr int kMaxSizeDigits = 16;  // of a 64-bit number

/// CR LF, up to six digits, CR LF.
constexpr size_t kShortSizeLine = 10;

constexpr absl::string_view kBadSize = "chunk size: not 1 to 16 hexadecimal digits";
constexpr absl::string_view kBadLineEnd = "chunk line: does not end with CR LF";
constexpr absl::string_view kBadDataEnd =
    "chunk data: longer than the chunk size, or not ended by CR LF";

int HexValue(char digit) {
  return absl::ascii_isdigit(digit) ? digit - '0' : absl::ascii_tolower(digit) - 'a' + 10;
}

}  // namespace

ChunkDecoder::Step ChunkDecoder::Next(absl::string_view* bytes, absl::string_view* payload) {
  while (!bytes->empty() && state_ != State::kEnd && state_ != State::kError) {
    if (state_ == State::kData) {
      *payload = bytes->substr(0, size_);
      bytes->remove_prefix(payload->size());
      size_ -= payload->size();
      if (size_ == 0) state_ = State::kDataCr;
      return Step::kPayload;
    }
    if (TakeWholeSizeLine(bytes)) continue;
    Take(bytes->front());
    bytes->remove_prefix(1);
  }
  if (state_ == State::kEnd) return Step::kEnd;
  return state_ == State::kError ? Step::kError : Step::kNeedMore;
}

bool ChunkDecoder::TakeWholeSizeLine(absl::string_view* bytes) {
  if (state_ != State::kDataCr) return false;
  const absl::string_view line = *bytes;
  if (line.size() < kShortSizeLine || line[0] != '\r' || line[1] != '\n') return false;
  uint64_t size = 0;
  size_t at = 2;
  for (; at < kShortSizeLine - 2 && absl::ascii_isxdigit(line[at]); ++at) {
    size = size << 4 | static_cast<uint64_t>(HexValue(line[at]));
  }
  if (size == 0 || line[at] != '\r' || line[at + 1] != '\n') return false;
  bytes->remove_prefix(at + 2);
  size_ = size;
  state_ = State::kData;
  return true;
}

void ChunkDecoder::Take(char byte) {
  switch (state_) {
    case State::kSizeStart:
      size_ = 0;
      digits_ = 0;
      extension_bytes_ = 0;
      if (!absl::ascii_isxdigit(byte)) return Fail(kBadSize);
      return TakeDigit(byte);
    case State::kSize:
      if (absl::ascii_isxdigit(byte)) return TakeDigit(byte);
      if (byte != '\r' && byte != ';') return Fail(kBadSize);
      state_ = byte == '\r' ? State::kSizeLf : State::kExtension;
      return;
    case State::kExtension:
      if (byte == '\r') {
        state_ = State::kSizeLf;
        return;
      }
      if (!IsTextByte(byte)) return Fail("chunk extension: control byte");
      if (++extension_bytes_ > limits_.extension_bytes) return Fail("chunk extension: too long");
      return;
    case State::kSizeLf:
      if (byte != '\n') return Fail(kBadLineEnd);
      state_ = size_ == 0 ? State::kTrailerStart : State::kData;
      return;
    case State::kDataCr:
      if (byte != '\r') return Fail(kBadDataEnd);
      state_ = State::kDataLf;
      return;
    case State::kDataLf:
      if (byte != '\n') return Fail(kBadDataEnd);
      state_ = State::kSizeStart;
      return;
    case State::kTrailerStart:
      if (byte == '\r') {
        state_ = State::kEndLf;
        return;
      }
      return TakeTrailerByte(byte);
    case State::kTrailer:
      if (byte == '\r') {
        state_ = State::kTrailerLf;
        return;
      }
      return TakeTrailerByte(byte);
    case State::kTrailerLf:
      if (byte != '\n') return Fail("trailer: CR without LF");
      state_ = State::kTrailerStart;
      return;
    case State::kEndLf:
      if (byte != '\n') return Fail(kBadLineEnd);
      state_ = State::kEnd;
      return;
    case State::kData:
    case State::kEnd:
    case State::kError:
      return;  // Next does not come here in these
  }
}

void ChunkDecoder::TakeDigit(char byte) {
  if (++digits_ > kMaxSizeDigits) return Fail(kBadSize);
  size_ = size_ << 4 | static_cast<uint64_t>(HexValue(byte));
  state_ = State::kSize;
}

void ChunkDecoder::TakeTrailerByte(char byte) {
  if (limits_.trailer_bytes == 0) return Fail("trailer: not accepted");
  if (!IsTextByte(byte)) return Fail("trailer: control byte");
  if (++trailer_bytes_ > limits_.trailer_bytes) return Fail("trailer: too long");
  state_ = State::kTrailer;
}

void ChunkDecoder::Fail(absl::string_view error) {
  state_ = State::kError;
  error_ = error;
}

}  // namespace sluice::http
