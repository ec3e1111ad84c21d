#ifndef SLUICE_LIB_RELAY_FRAME_FILTER_H_
#define SLUICE_LIB_RELAY_FRAME_FILTER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/dialect/dialect.h"
#include "lib/exchange/exchange.h"
#include "lib/relay/pass_rules.h"
#include "lib/sse/splitter.h"

namespace sluice::relay {

/// Leaves out of an event stream what is not for the client, and counts it in the record; the rest
/// passes as it came.
///
/// `only_valid_frames`: a valid frame passes once it is whole, but for its lines of unknown fields;
/// nothing between frames does. A frame too large to judge (a splitter's oversize) is dropped,
/// since nothing is known to be valid of it.
/// `hide_usage_chunk`: such a frame is dropped from its first field to its blank line. All else
/// passes, comments and whole frames as they come, a part of a frame once the rest is there: only
/// its end tells what it is. A frame too large to judge passes, and one that the end of the stream
/// cut off, unless all of its data had come and makes it such a chunk.
///
/// At most sse::Splitter::max_block_bytes are held back. Where CR alone ends lines, a frame is
/// whole when the next byte comes (see sse::Splitter). Confined to the exchange's fiber.
class FrameFilter {
 public:
  /// `record` must outlive it.
  FrameFilter(PassRules rules, Exchange& record);

  /// What passes once `piece` has come; may be empty.
  std::string Take(absl::string_view piece);
  /// The stream ended, well or not: what passes now. Nothing more when called again.
  std::string Finish();

  /// After Finish: whether what passed ends inside an event, as sse::Splitter::inside_event.
  bool inside_event() const { return !dropping_ && splitter_.inside_event(); }

 private:
  void Judge(const sse::Frame& frame);
  /// The bytes up to the offset `end` that are not decided about yet pass, or are dropped.
  void Decide(uint64_t end, bool pass);
  void KeepUndecided();

  const PassRules rules_;
  Exchange& record_;
  sse::Splitter splitter_;
  dialect::StreamReader reader_{dialect::Dialect::kNone};  // says `valid` and `usage_chunk` of any
  uint64_t decided_ = 0;                                   // an offset
  bool dropping_ = false;                                  // the last byte before it was dropped
  std::string kept_;                                       // undecided bytes of earlier pieces
  uint64_t kept_start_ = 0;                                // the offset of the first

  // During a call.
  absl::string_view piece_;
  uint64_t piece_start_ = 0;
  std::string passing_;
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_FRAME_FILTER_H_
