#include "lib/relay/frame_filter.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice::relay {

FrameFilter::FrameFilter(PassRules rules, Exchange& record) : rules_(rules), record_(record) {
  record_.valid_frames_only = rules_.only_valid_frames;
}

std::string FrameFilter::Take(absl::string_view piece) {
  piece_ = piece;
  piece_start_ = splitter_.offset();
  splitter_.Feed(piece, [this](const sse::Frame& frame) { Judge(frame); });
  const bool oversize = splitter_.offset() - splitter_.settled() > splitter_.max_block_bytes();
  const uint64_t settled =
      rules_.only_valid_frames ? splitter_.settled() : splitter_.fields_settled();
  Decide(oversize ? splitter_.offset() : settled, /*pass=*/!rules_.only_valid_frames);
  KeepUndecided();
  return std::exchange(passing_, std::string());
}

std::string FrameFilter::Finish() {
  piece_ = {};
  piece_start_ = splitter_.offset();
  splitter_.Finish([this](const sse::Frame& frame) { Judge(frame); });
  if (rules_.only_valid_frames) {
    Decide(splitter_.offset(), /*pass=*/false);
  } else {
    const std::optional<std::string> tail = splitter_.tail();
    sse::Frame cut_off;
    if (tail.has_value()) cut_off.data = *tail;
    Decide(splitter_.fields_settled(), /*pass=*/true);
    Decide(splitter_.offset(), rules_.Pass(reader_.Read(cut_off)));
  }
  return std::exchange(passing_, std::string());
}

void FrameFilter::Judge(const sse::Frame& frame) {
  const bool passes = rules_.Pass(reader_.Read(frame));
  if (rules_.only_valid_frames && passes) {
    for (const sse::Range& range : frame.ranges) {
      Decide(range.start, /*pass=*/false);
      Decide(range.end, /*pass=*/true);
    }
  } else if (!rules_.only_valid_frames && !passes) {
    Decide(frame.fields_start, /*pass=*/true);
    Decide(frame.end, /*pass=*/false);
  }
}

void FrameFilter::Decide(uint64_t end, bool pass) {
  if (end <= decided_) return;
  if (pass) {
    if (decided_ < piece_start_) {
      passing_.append(kept_, decided_ - kept_start_, std::min(end, piece_start_) - decided_);
    }
    if (end > piece_start_) {
      const uint64_t start = std::max(decided_, piece_start_);
      passing_.append(piece_.data() + (start - piece_start_), end - start);
    }
  } else {
    record_.dropped_bytes += end - decided_;
    if (!dropping_) ++record_.dropped_stretches;
  }
  dropping_ = !pass;
  decided_ = end;
}

void FrameFilter::KeepUndecided() {
  if (decided_ >= piece_start_) {
    kept_ = std::string(piece_.substr(decided_ - piece_start_));  // gives memory back
  } else {
    kept_.erase(0, decided_ - kept_start_);
    kept_.append(piece_.data(), piece_.size());
  }
  kept_start_ = decided_;
}

}  // namespace sluice::relay
