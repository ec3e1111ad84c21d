#ifndef SLUICE_LIB_DIALECT_ANSWER_FACTS_H_
#define SLUICE_LIB_DIALECT_ANSWER_FACTS_H_

#include <bitset>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

#include "lib/dialect/dialect.h"
#include "lib/dialect/usage.h"

/// Private to lib/dialect: what one JSON text of an answer says, in any dialect. Where it is read
/// is decided by the place in the text alone; what it means, by the dialect, is for the readers of
/// these facts.
namespace sluice::dialect {

enum class Kind { kAbsent, kNull, kBool, kNumber, kString, kObject, kArray };

/// As many as OpenAI lets a client ask for. Choices beyond are not followed.
inline constexpr size_t kMaxChoices = 128;

/// The members of an error object; "" where there is none or it is no scalar.
struct ErrorFields {
  std::string message;
  std::string type;
  std::string code;
};

/// The value of one member that may differ from frame to frame while the meaning stays: generated
/// text, counters, time. Offsets of its text, [start, end), without quotes.
struct FreeValue {
  size_t start = 0;
  size_t end = 0;
  bool is_string = false;  // else a number
  bool generated = false;  // text of the answer
};

struct AnswerFacts {
  Kind root = Kind::kAbsent;
  bool root_is_empty = false;  // of an object
  bool first_is_object =
      false;  // of a root that is an array; then the errors below are of that object

  ErrorFields top;  // of the root itself; its `type` is the event's
  std::string object;
  std::string status;

  // Also of the first element, if the root is an array.
  Kind error = Kind::kAbsent;
  bool error_is_empty = false;
  std::string error_text;      // when `error` is a string
  ErrorFields error_fields;    // when it is an object
  std::string error_type;      // beside it
  ErrorFields response_error;  // `response.error`

  UsageCounts usage;
  UsageCounts response_usage;
  UsageCounts message_usage;

  Kind usage_kind = Kind::kAbsent;  // of `usage`

  bool choices_are_empty = false;  // of a `choices` that is an array
  std::bitset<kMaxChoices> choices;
  std::bitset<kMaxChoices> finished;
  std::string finish_reason;                     // of choice 0
  bool finished_by_error = false;                // any choice
  std::optional<std::string> stop_reason;        // `delta.stop_reason`
  std::optional<std::string> incomplete_reason;  // `response.incomplete_details.reason`

  bool tool_call = false;       // or anything generated that is not a string
  bool generated_text = false;  // not empty
  absl::InlinedVector<FreeValue, 4> free_values;
};

/// Whether `text` is one whole JSON text (RFC 8259, UTF-8; deeper than any engine reads, it counts
/// as none).
/// `*facts` is what it says if so, and empty otherwise. Of a member given twice the last one
/// counts.
bool ReadAnswerFacts(absl::string_view text, AnswerFacts* facts);

UpstreamError ToError(const ErrorFields& fields);

/// The error that the facts are, by rule 5, or nothing. `event` is the frame's name.
std::optional<UpstreamError> ErrorOf(const AnswerFacts& facts, absl::string_view event);

}  // namespace sluice::dialect

#endif  // SLUICE_LIB_DIALECT_ANSWER_FACTS_H_
