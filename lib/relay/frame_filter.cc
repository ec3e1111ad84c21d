#include "lib/relay/frame_filter.h"

#include <algorithm>

namespace sluice::relay {

FrameFilter::FrameFilter(Exchange& record) : record_(record) { record_.valid_frames_only = true; }

std::string FrameFilter::Take(absl::string_view piece) {
  std::string passing;
  const uint64_t piece_start = splitter_.offset();
  splitter_.Feed(piece,
                 [&](const sse::Frame& frame) { Pass(frame, piece, piece_start, &passing); });
  Keep(piece, piece_start);
  CountDropped();
  return passing;
}

std::string FrameFilter::Finish() {
  std::string passing;
  splitter_.Finish([&](const sse::Frame& frame) { Pass(frame, "", splitter_.offset(), &passing); });
  CountDropped();
  return passing;
}

void FrameFilter::Pass(const sse::Frame& frame, absl::string_view piece, uint64_t piece_start,
                       std::string* passing) {
  if (!reader_.Read(frame).valid) return;
  for (const sse::Range& range : frame.ranges) {
    if (range.start < piece_start) {
      passing->append(kept_, range.start - kept_start_,
                      std::min(range.end, piece_start) - range.start);
    }
    if (range.end > piece_start) {
      const uint64_t start = std::max(range.start, piece_start);
      passing->append(piece.data() + (start - piece_start), range.end - start);
    }
    if (range.start > passed_end_) ++stretches_;
    passed_end_ = range.end;
    passed_bytes_ += range.end - range.start;
  }
}

void FrameFilter::Keep(absl::string_view piece, uint64_t piece_start) {
  const uint64_t settled = splitter_.settled();
  const uint64_t offset = splitter_.offset();
  if (settled == offset || offset - settled > splitter_.max_block_bytes()) {
    std::string().swap(kept_);  // too much for a frame: none of it will be asked for
    return;
  }
  if (settled >= piece_start) {
    kept_ = std::string(piece.substr(settled - piece_start));
  } else {
    kept_.erase(0, settled - kept_start_);
    kept_.append(piece.data(), piece.size());
  }
  kept_start_ = settled;
}

void FrameFilter::CountDropped() {
  record_.dropped_bytes = splitter_.offset() - passed_bytes_;
  record_.dropped_stretches = stretches_ + (splitter_.offset() > passed_end_ ? 1 : 0);
}

}  // namespace sluice::relay
