#include "lib/http/head_scanner.h"

#include "absl/strings/str_cat.h"

#include "lib/base/release.h"
#include "lib/http/grammar.h"

namespace sluice::http {

HeadScanner::Result HeadScanner::Scan(absl::string_view bytes, size_t* consumed) {
  Result result = Result::kNeedMore;
  size_t taken = 0;
  while (result == Result::kNeedMore && taken < bytes.size()) result = Take(bytes[taken++]);
  head_.append(bytes.data(), taken);
  *consumed = taken;
  return result;
}

HeadScanner::Result HeadScanner::Take(char byte) {
  if (++size_ > limits_.head_bytes) return Fail(Fault::kHeadTooLong);
  if (after_cr_) return byte == '\n' ? TakeLineEnd() : Fail(Fault::kBareCr);
  if (byte == '\r') {
    after_cr_ = true;
    return Result::kNeedMore;
  }
  if (!IsTextByte(byte)) return Fail(byte == '\n' ? Fault::kBareLf : Fault::kControlByte);

  const bool in_start_line = lines_ == 0;
  if (!in_start_line && line_bytes_ == 0) {
    if (byte == ' ' || byte == '\t') return Fail(Fault::kFoldedLine);
    if (lines_ > limits_.fields) return Fail(Fault::kTooManyFields);
  }
  ++line_bytes_;
  if (in_start_line && line_bytes_ > limits_.start_line_bytes)
    return Fail(Fault::kStartLineTooLong);
  if (!in_start_line && line_bytes_ > limits_.field_line_bytes)
    return Fail(Fault::kFieldLineTooLong);
  return Result::kNeedMore;
}

HeadScanner::Result HeadScanner::TakeLineEnd() {
  const bool blank = line_bytes_ == 0;
  after_cr_ = false;
  line_bytes_ = 0;
  ++lines_;
  if (lines_ == 1) return Result::kStartLine;
  return blank ? Result::kDone : Result::kNeedMore;
}

HeadScanner::Result HeadScanner::Fail(Fault fault) {
  fault_ = fault;
  return Result::kFault;
}

std::string HeadScanner::FaultText() const {
  switch (fault_) {
    case Fault::kNone:
      return "";
    case Fault::kBareLf:
      return "head: LF without CR";
    case Fault::kBareCr:
      return "head: CR without LF";
    case Fault::kControlByte:
      return "head: control byte";
    case Fault::kFoldedLine:
      return "header line: folded (starts with a blank)";
    case Fault::kStartLineTooLong:
      return absl::StrCat("start line: over the limit of ", limits_.start_line_bytes, " bytes");
    case Fault::kFieldLineTooLong:
      return absl::StrCat("header line: over the limit of ", limits_.field_line_bytes, " bytes");
    case Fault::kTooManyFields:
      return absl::StrCat("headers: more than the limit of ", limits_.fields);
    case Fault::kHeadTooLong:
      return absl::StrCat("head: over the limit of ", limits_.head_bytes, " bytes");
  }
  return "";
}

void HeadScanner::Reset() {
  Release(head_);
  *this = HeadScanner(limits_);
}

}  // namespace sluice::http
