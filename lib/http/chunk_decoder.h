#ifndef SLUICE_LIB_HTTP_CHUNK_DECODER_H_
#define SLUICE_LIB_HTTP_CHUNK_DECODER_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace sluice::http {

/// Takes the chunked transfer coding off (RFC 9112 section 7.1) in any pieces, without copying and
/// without keeping a byte: a chunk header cut anywhere is held as a state. Strict: every line ends
/// with CR LF, a size is 1 to 16 hexadecimal digits and nothing else, extensions are text, ignored
/// and bounded.
///
/// Beast's own chunk parser is not used: it takes the CR LF that ends a chunk together with the
/// next chunk's header, and wants both in one buffer, so that every read of a stream would leave
/// two bytes to be carried over.
class ChunkDecoder {
 public:
  struct Limits {
    size_t extension_bytes;  // per chunk
    size_t trailer_bytes;    // of the whole trailer section, which is dropped; 0: none is accepted
  };
  enum class Step {
    kPayload,   // `*payload` is the next run of the body, never empty
    kNeedMore,  // all bytes are taken
    kEnd,       // the body is complete; what is left in `*bytes` is not of it
    kError,     // error() says why
  };

  explicit ChunkDecoder(const Limits& limits) : limits_(limits) {}

  /// Takes bytes off the front of `*bytes`. `*payload` points into them.
  Step Next(absl::string_view* bytes, absl::string_view* payload);

  /// How much of the chunk at hand is still to come; 0 outside of one.
  uint64_t chunk_remaining() const { return state_ == State::kData ? size_ : 0; }
  absl::string_view error() const { return error_; }

 private:
  enum class State {
    kSizeStart,
    kSize,
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailer,
    kTrailerLf,
    kEndLf,
    kEnd,
    kError,
  };

  void Take(char byte);
  /// What is nearly always between two chunks, at once: the end of the one, and the plain size of
  /// the next. False: not so; nothing was taken.
  bool TakeWholeSizeLine(absl::string_view* bytes);
  void TakeDigit(char byte);
  void TakeTrailerByte(char byte);
  void Fail(absl::string_view error);

  Limits limits_;
  State state_ = State::kSizeStart;
  uint64_t size_ = 0;  // of the chunk; of what is left of it in kData
  int digits_ = 0;
  size_t extension_bytes_ = 0;
  size_t trailer_bytes_ = 0;
  absl::string_view error_;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_CHUNK_DECODER_H_
