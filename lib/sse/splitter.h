#ifndef SLUICE_LIB_SSE_SPLITTER_H_
#define SLUICE_LIB_SSE_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace sluice::sse {

/// Offsets in the stream, [start, end).
struct Range {
  uint64_t start = 0;
  uint64_t end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// One event that has data, or an error line. All views are borrowed for the call.
struct Frame {
  absl::string_view event;  // the name, raw bytes; "" when there is none
  absl::string_view data;   // data lines joined by LF; raw bytes. Empty when `oversize`
  uint64_t start = 0;       // the block from its first line to its blank line, [start, end)
  uint64_t end = 0;
  uint64_t fields_start = 0;  // of the first line that is no comment
  bool oversize = false;      // larger than `max_frame_bytes`: counted, not kept
  bool error_line = false;  // a bare `error: {...}` line, by the standard no event; `data` is {...}
  /// The block without its lines of unknown fields: what `relay: VALID_FRAMES` passes of a valid
  /// frame. None when `oversize` and for an error line.
  absl::Span<const Range> ranges;
};

/// Cuts a stream of bytes that comes in any pieces into events, as WHATWG HTML 9.2.6 says: LF, CR
/// or CR LF end lines, a BOM at byte 0 is skipped, comments and unknown fields are no events.
/// Frames do not depend on how the stream was cut. After a CR one byte more, or Finish, is waited
/// for, so that `end` is exact.
///
/// Keeps only what is not yet complete, and at most `max_frame_bytes` of that (the lines with data,
/// name or error of one block); copies nothing when a frame lies whole in one piece, and owns no
/// heap memory while nothing is pending. A block of more than `max_block_bytes`, whatever its
/// lines, is oversize too, so that who keeps blocks as they came keeps no more. Thread-compatible.
class Splitter {
 public:
  /// Must not call back into the splitter.
  using OnFrame = absl::FunctionRef<void(const Frame&)>;

  explicit Splitter(size_t max_frame_bytes = size_t{1} << 20,
                    size_t max_block_bytes = size_t{2} << 20)
      : max_frame_bytes_(max_frame_bytes), max_block_bytes_(max_block_bytes) {}

  /// `on_frame` is called for each event that `piece` completes, in order; for a block with an
  /// `error:` line, once for that line first.
  void Feed(absl::string_view piece, OnFrame on_frame);

  /// The stream ended here: a line ended by a last CR counts. An event no blank line follows is
  /// dropped.
  void Finish(OnFrame on_frame);

  /// Whether bytes came since the last blank line that a client's parser would still join to what
  /// follows (fields or an unfinished line; finished comments do not count). Then whoever adds an
  /// event of its own writes LF LF first: one ends the line, one the block.
  bool inside_event() const;

  /// After Finish: the data of the event that the end of the stream cut off, as far as it came
  /// (empty when it is oversize or there is none); nothing when only comments, or no bytes at all,
  /// follow the last blank line. For dialect::StreamReader::End.
  std::optional<std::string> tail() const;

  uint64_t offset() const { return offset_; }  // bytes fed so far
  /// Between calls of Feed: no frame to come has bytes before this.
  uint64_t settled() const { return kept_block_ != nullptr ? kept_block_->start : line_start_; }
  /// Between calls of Feed: as settled, of the frames' fields.
  uint64_t fields_settled() const {
    return kept_block_ != nullptr && kept_block_->has_fields ? kept_block_->fields_start
                                                             : line_start_;
  }
  size_t max_block_bytes() const { return max_block_bytes_; }
  uint64_t comments() const { return comments_; }  // finished comment lines so far

 private:
  /// Bytes of the current block: borrowed from the piece until Keep.
  class Text {
   public:
    absl::string_view get() const {
      return borrowed_.empty() ? absl::string_view(kept_) : borrowed_;
    }
    void Set(absl::string_view bytes, bool borrow);
    void Append(absl::string_view bytes);
    void Keep();
    void Clear();
    void Release();

   private:
    absl::string_view borrowed_;  // empty between two calls of Feed
    std::string kept_;
  };

  struct Block {
    uint64_t start = 0;
    bool open = false;
    bool has_fields = false;    // any line but comments
    uint64_t fields_start = 0;  // of the first, if it has any
    bool has_data = false;
    bool oversize = false;
    Text data;
    Text event;
    Text error;
    uint64_t range_start = 0;
    std::vector<Range> ranges;  // finished ones; empty unless the block has unknown fields
  };

  /// Goes on with the block kept, or in `fresh`.
  void Resume(Block* fresh);
  /// Keeps the block if it is open.
  void Suspend();
  void KeepLine(absl::string_view part);
  void EndLine(absl::string_view text, size_t length, bool borrow, uint64_t end, OnFrame on_frame);
  void EndPendingLine(uint64_t end, OnFrame on_frame);
  void EndBlock(uint64_t end, OnFrame on_frame);
  void CutRange(uint64_t start, uint64_t end);
  void MarkOversize();
  size_t kept_bytes() const;
  absl::string_view pending_line() const;

  size_t max_frame_bytes_;
  size_t max_block_bytes_;
  uint64_t offset_ = 0;
  uint64_t comments_ = 0;

  // The line that is not finished yet: its bytes, of which only the first are kept when it is too
  // long.
  std::string line_;
  uint64_t line_start_ = 0;
  size_t line_length_ = 0;
  bool after_cr_ = false;  // it is finished, but an LF may belong to its end

  // The block that is not finished yet: during a call always one; between calls only if one is
  // open, so that an idle splitter is small and yet a block whole in one piece allocates nothing.
  Block* block_ = nullptr;
  std::unique_ptr<Block> kept_block_;
};

}  // namespace sluice::sse

#endif  // SLUICE_LIB_SSE_SPLITTER_H_
