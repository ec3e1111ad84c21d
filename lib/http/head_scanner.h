#ifndef SLUICE_LIB_HTTP_HEAD_SCANNER_H_
#define SLUICE_LIB_HTTP_HEAD_SCANNER_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace sluice::http {

/// Collects the head of one HTTP/1 message from any pieces, and refuses at the byte that shows it
/// whatever parsers read differently: a LF without CR, a CR without LF, a control byte, a folded
/// line (RFC 9112 sections 2.2 and 5.2). It bounds what it keeps. What the lines say is left to
/// lib/http/head_syntax.h.
class HeadScanner {
 public:
  /// Each value is the most that passes.
  struct Limits {
    size_t head_bytes;        // with all line ends and the blank line
    size_t start_line_bytes;  // without its line end
    size_t field_line_bytes;  // without its line end
    size_t fields;
  };
  enum class Result {
    kNeedMore,   // all bytes are taken
    kStartLine,  // head() is the start line with its CR LF; given once, call again for the rest
    kDone,       // head() is the whole head with its blank line
    kFault,      // fault() says why; the scanner is of no more use
  };
  enum class Fault {
    kNone,
    kBareLf,
    kBareCr,
    kControlByte,
    kFoldedLine,
    kStartLineTooLong,
    kFieldLineTooLong,
    kTooManyFields,
    kHeadTooLong,
  };

  explicit HeadScanner(const Limits& limits) : limits_(limits) {}

  /// Sets `*consumed` to how many of `bytes` it took.
  Result Scan(absl::string_view bytes, size_t* consumed);

  /// Valid until the next Scan or Reset.
  absl::string_view head() const { return head_; }
  Fault fault() const { return fault_; }
  /// What is wrong, and the limit if it is one.
  std::string FaultText() const;

  /// Makes ready for the next head.
  void Reset();

 private:
  Result Take(char byte);
  Result TakeLineEnd();
  Result Fail(Fault fault);

  Limits limits_;
  std::string head_;
  size_t size_ = 0;        // bytes taken
  size_t lines_ = 0;       // complete ones
  size_t line_bytes_ = 0;  // of the line at hand
  bool after_cr_ = false;
  Fault fault_ = Fault::kNone;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_HEAD_SCANNER_H_
