#ifndef SLUICE_LIB_DIALECT_FRAME_SHAPE_H_
#define SLUICE_LIB_DIALECT_FRAME_SHAPE_H_

#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

#include "lib/dialect/answer_facts.h"

/// Private to lib/dialect: why most frames need no parsing.
namespace sluice::dialect {

/// Recognises a frame that says nothing new: byte for byte one that was parsed, but for the values
/// that are free to differ (generated text, counters, time). Nearly all frames of a stream are of
/// that kind, and to compare bytes costs a small part of a parse.
class FrameShape {
 public:
  struct Match {
    bool content = false;  // as FrameView
  };

  /// `data` was parsed to `facts` and means nothing but its generated text.
  void Learn(absl::string_view data, const AnswerFacts& facts);

  /// Whether `data` is the frame learned last but for free values; then it is valid JSON and means
  /// as much.
  std::optional<Match> Find(absl::string_view data) const;

 private:
  std::string learned_;
  absl::InlinedVector<FreeValue, 4> free_values_;
  bool tool_call_ = false;
};

}  // namespace sluice::dialect

#endif  // SLUICE_LIB_DIALECT_FRAME_SHAPE_H_
