#include "lib/dialect/answer_facts.h"
#include "lib/dialect/json.h"

namespace sluice::dialect {
namespace {

bool HasErrorMember(const AnswerFacts& facts) {
  switch (facts.error) {
    case Kind::kObject:
      return !facts.error_is_empty;
    case Kind::kString:
      return !facts.error_text.empty();
    default:
      return false;
  }
}

std::optional<UpstreamError> ErrorOfObject(const AnswerFacts& facts) {
  if (HasErrorMember(facts)) {
    if (facts.error == Kind::kObject) return ToError(facts.error_fields);
    return ToError({facts.error_text, facts.error_type, ""});
  }
  if (facts.object == "error" || facts.top.type == "error") return ToError(facts.top);
  const bool failed_response = facts.object == "response" && facts.status == "failed";
  if (facts.top.type == "response.failed" || failed_response) return ToError(facts.response_error);
  return std::nullopt;
}

}  // namespace

UpstreamError ToError(const ErrorFields& fields) {
  return {ReplaceInvalidUtf8(fields.message), ReplaceInvalidUtf8(fields.type),
          ReplaceInvalidUtf8(fields.code)};
}

std::optional<UpstreamError> ErrorOf(const AnswerFacts& facts, absl::string_view event) {
  std::optional<UpstreamError> error;
  if (facts.root == Kind::kObject || HasErrorMember(facts)) error = ErrorOfObject(facts);
  if (!error && event == "error") error.emplace();
  return error;
}

}  // namespace sluice::dialect
