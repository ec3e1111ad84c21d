#include "lib/sse/splitter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace sluice::sse {
namespace {

constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Of a line too long to keep: enough for the mark and the longest name we know with its colon.
constexpr size_t kPrefixBytes = 16;

// More stretches than this in one block, and the block counts as oversize.
constexpr size_t kMaxRanges = 1024;

enum class Field { kComment, kData, kEvent, kError, kWithoutEffect, kUnknown };

struct Line {
  Field field;
  absl::string_view value;
};

Field FieldNamed(absl::string_view name) {
  if (name == "data") return Field::kData;
  if (name == "event") return Field::kEvent;
  if (name == "error") return Field::kError;
  if (name == "id" || name == "retry") return Field::kWithoutEffect;
  return Field::kUnknown;
}

Line ParseLine(absl::string_view text) {
  const size_t colon = text.find(':');
  if (colon == 0) return {Field::kComment, {}};
  if (colon == absl::string_view::npos) return {FieldNamed(text), {}};
  absl::string_view value = text.substr(colon + 1);
  absl::ConsumePrefix(&value, " ");
  return {FieldNamed(text.substr(0, colon)), value};
}

const char* FindOrEnd(const char* from, const char* end, char byte) {
  const void* found = std::memchr(from, byte, static_cast<size_t>(end - from));
  return found == nullptr ? end : static_cast<const char*>(found);
}

void ReleaseHeap(std::string& bytes) {
  if (bytes.capacity() > std::string().capacity()) std::string().swap(bytes);
}

}  // namespace

void Splitter::Text::Set(absl::string_view bytes, bool borrow) {
  if (borrow) {
    borrowed_ = bytes;
    kept_.clear();
  } else {
    borrowed_ = {};
    kept_.assign(bytes.data(), bytes.size());
  }
}

void Splitter::Text::Append(absl::string_view bytes) {
  Keep();
  kept_.append(bytes.data(), bytes.size());
}

void Splitter::Text::Keep() {
  if (borrowed_.empty()) return;
  kept_.assign(borrowed_.data(), borrowed_.size());
  borrowed_ = {};
}

void Splitter::Text::Clear() {
  borrowed_ = {};
  kept_.clear();
}

void Splitter::Text::Release() { ReleaseHeap(kept_); }

void Splitter::Feed(absl::string_view piece, OnFrame on_frame) {
  if (piece.empty()) return;
  Block fresh;
  Resume(&fresh);
  const char* const begin = piece.data();
  const char* const end = begin + piece.size();
  const uint64_t base = offset_;
  offset_ += piece.size();

  const char* at = begin;
  if (after_cr_) {
    if (*at == '\n') ++at;
    EndPendingLine(base + static_cast<uint64_t>(at - begin), on_frame);
  }
  // The next LF and CR at or after `at`. Each is looked for once, so that time is linear in the
  // piece whatever ends its lines.
  const char* lf = FindOrEnd(at, end, '\n');
  const char* cr = FindOrEnd(at, end, '\r');
  while (at < end) {
    const char* const stop = std::min(lf, cr);
    const absl::string_view part(at, static_cast<size_t>(stop - at));
    if (stop == end) {
      KeepLine(part);
      break;
    }
    if (*stop == '\r' && stop + 1 == end) {
      KeepLine(part);
      after_cr_ = true;
      break;
    }
    at = stop + (*stop == '\r' && stop[1] == '\n' ? 2 : 1);
    if (lf < at) lf = FindOrEnd(at, end, '\n');
    if (cr < at) cr = FindOrEnd(at, end, '\r');

    const uint64_t line_end = base + static_cast<uint64_t>(at - begin);
    if (line_length_ == 0) {
      EndLine(part, part.size(), /*borrow=*/true, line_end, on_frame);
    } else {
      KeepLine(part);
      EndPendingLine(line_end, on_frame);
    }
  }

  Suspend();
}

void Splitter::Finish(OnFrame on_frame) {
  Block fresh;
  Resume(&fresh);
  if (after_cr_) EndPendingLine(offset_, on_frame);
  Suspend();
}

void Splitter::Resume(Block* fresh) { block_ = kept_block_ != nullptr ? kept_block_.get() : fresh; }

void Splitter::Suspend() {
  if (!block_->open) {
    kept_block_.reset();
  } else {
    for (Text* text : {&block_->data, &block_->event, &block_->error}) text->Keep();
    if (kept_block_ == nullptr) kept_block_ = std::make_unique<Block>(std::move(*block_));
  }
  block_ = nullptr;
  if (line_.empty()) ReleaseHeap(line_);
}

bool Splitter::inside_event() const {
  const bool has_fields = kept_block_ != nullptr && kept_block_->has_fields;
  const absl::string_view line = pending_line();
  if (!after_cr_) return has_fields || !line.empty();
  if (line.empty()) return false;
  return has_fields || ParseLine(line).field != Field::kComment;
}

std::optional<std::string> Splitter::tail() const {
  static const Block kNone;
  const Block& block = kept_block_ != nullptr ? *kept_block_ : kNone;
  const Line last = ParseLine(pending_line());
  const bool cut = !pending_line().empty();
  if (!block.has_fields && (!cut || last.field == Field::kComment)) return std::nullopt;
  const bool cut_data = cut && last.field == Field::kData;
  if (block.oversize || (cut_data && line_.size() < line_length_)) return std::string();
  std::string data(block.data.get());
  if (cut_data) {
    if (block.has_data) data += '\n';
    data.append(last.value.data(), last.value.size());
  }
  return data;
}

absl::string_view Splitter::pending_line() const {
  absl::string_view text = line_;
  if (line_start_ == 0) absl::ConsumePrefix(&text, kByteOrderMark);
  return text;
}

size_t Splitter::kept_bytes() const {
  return block_->data.get().size() + block_->event.get().size() + block_->error.get().size();
}

void Splitter::KeepLine(absl::string_view part) {
  line_length_ += part.size();
  if (!block_->oversize && kept_bytes() + line_length_ <= max_frame_bytes_) {
    line_.append(part.data(), part.size());
    return;
  }
  if (line_.size() > kPrefixBytes) {
    line_.resize(kPrefixBytes);
    line_.shrink_to_fit();
  }
  part = part.substr(0, kPrefixBytes - line_.size());
  line_.append(part.data(), part.size());
}

void Splitter::EndPendingLine(uint64_t end, OnFrame on_frame) {
  EndLine(line_, line_length_, /*borrow=*/false, end, on_frame);
  line_.clear();
  line_length_ = 0;
  after_cr_ = false;
}

// `text` is the line, or the first bytes of it when it is too long to keep; `length` is the whole
// length.
void Splitter::EndLine(absl::string_view text, size_t length, bool borrow, uint64_t end,
                       OnFrame on_frame) {
  uint64_t start = line_start_;
  line_start_ = end;
  if (start == 0 && absl::ConsumePrefix(&text, kByteOrderMark)) start = kByteOrderMark.size();
  if (block_->open && end - block_->start > max_block_bytes_) MarkOversize();
  if (text.empty()) {
    EndBlock(end, on_frame);
    return;
  }
  if (!block_->open) {
    block_->open = true;
    block_->start = block_->range_start = start;
  }

  const Line line = ParseLine(text);
  if (line.field == Field::kComment) {
    ++comments_;
    return;
  }
  if (!std::exchange(block_->has_fields, true)) block_->fields_start = start;
  if (line.field == Field::kUnknown || line.field == Field::kError) CutRange(start, end);
  if (line.field == Field::kUnknown || line.field == Field::kWithoutEffect) return;

  const bool first_data = line.field == Field::kData && !block_->has_data;
  if (line.field == Field::kData) block_->has_data = true;
  if (block_->oversize) return;
  if (kept_bytes() + length > max_frame_bytes_) {
    MarkOversize();
  } else if (line.field == Field::kEvent) {
    block_->event.Set(line.value, borrow);
  } else if (line.field == Field::kError) {
    if (block_->error.get().empty() && absl::StartsWith(line.value, "{"))
      block_->error.Set(line.value, borrow);
  } else if (first_data) {
    block_->data.Set(line.value, borrow);
  } else {
    block_->data.Append("\n");
    block_->data.Append(line.value);
  }
}

void Splitter::CutRange(uint64_t start, uint64_t end) {
  if (block_->range_start < start) {
    if (block_->ranges.size() == kMaxRanges) MarkOversize();
    if (!block_->oversize) block_->ranges.push_back({block_->range_start, start});
  }
  block_->range_start = end;
}

void Splitter::MarkOversize() {
  block_->oversize = true;
  for (Text* text : {&block_->data, &block_->event, &block_->error}) {
    text->Clear();
    text->Release();
  }
  std::vector<Range>().swap(block_->ranges);
}

void Splitter::EndBlock(uint64_t end, OnFrame on_frame) {
  Frame frame;
  frame.start = block_->start;
  frame.end = end;
  frame.fields_start = block_->fields_start;
  if (!block_->error.get().empty()) {
    frame.data = block_->error.get();
    frame.error_line = true;
    on_frame(frame);
    frame.error_line = false;
  }
  if (block_->has_data) {
    const Range last{block_->range_start, end};
    if (!block_->ranges.empty()) block_->ranges.push_back(last);
    frame.event = block_->event.get();
    frame.data = block_->data.get();
    frame.oversize = block_->oversize;
    if (!block_->oversize) {
      frame.ranges = block_->ranges.empty() ? absl::MakeConstSpan(&last, 1)
                                            : absl::MakeConstSpan(block_->ranges);
    }
    on_frame(frame);
  }
  block_->open = block_->has_fields = block_->has_data = block_->oversize = false;
  block_->data.Clear();
  block_->event.Clear();
  block_->error.Clear();
  block_->ranges.clear();
}

}  // namespace sluice::sse
