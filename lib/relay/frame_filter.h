#ifndef SLUICE_LIB_RELAY_FRAME_FILTER_H_
#define SLUICE_LIB_RELAY_FRAME_FILTER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/dialect/dialect.h"
#include "lib/exchange/exchange.h"
#include "lib/sse/splitter.h"

namespace sluice::relay {

/// `relay: VALID_FRAMES`: lets the valid frames of an event stream pass, each as it came but for
/// its lines of unknown fields, and nothing between them. What is dropped is counted in the record.
///
/// A frame passes once it is whole. One too large to judge (a splitter's oversize) is dropped,
/// since nothing is known to be valid of it; so at most sse::Splitter::max_block_bytes are held.
/// Confined to the exchange's fiber.
class FrameFilter {
 public:
  /// `record` must outlive it.
  explicit FrameFilter(Exchange& record);

  /// What `piece` lets pass; may be empty.
  std::string Take(absl::string_view piece);
  /// The stream ended, well or not: what that lets pass.
  std::string Finish();

 private:
  /// Takes the `ranges` of a valid frame out of the bytes kept and `piece`, which begins at
  /// `piece_start`.
  void Pass(const sse::Frame& frame, absl::string_view piece, uint64_t piece_start,
            std::string* passing);
  void Keep(absl::string_view piece, uint64_t piece_start);
  void CountDropped();

  Exchange& record_;
  sse::Splitter splitter_;
  dialect::StreamReader reader_{dialect::Dialect::kNone};  // what is valid is so in every dialect
  std::string kept_;                                       // bytes that may yet be part of a frame
  uint64_t kept_start_ = 0;                                // the offset of the first
  uint64_t passed_bytes_ = 0;
  uint64_t passed_end_ = 0;  // the offset behind the last byte that passed
  uint64_t stretches_ = 0;   // dropped, before passed_end_
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_FRAME_FILTER_H_
