#include "lib/dialect/answer_facts.h"

namespace sluice::dialect {
namespace {

UpstreamError FromFields(const ErrorFields& fields) {
  return {fields.message, fields.type, fields.code};
}

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
    if (facts.error == Kind::kObject) return FromFields(facts.error_fields);
    return UpstreamError{facts.error_text, facts.error_type, ""};
  }
  if (facts.object == "error" || facts.top.type == "error") return FromFields(facts.top);
  const bool failed_response = facts.object == "response" && facts.status == "failed";
  if (facts.top.type == "response.failed" || failed_response)
    return FromFields(facts.response_error);
  return std::nullopt;
}

}  // namespace

std::optional<UpstreamError> ErrorOf(const AnswerFacts& facts, absl::string_view event) {
  std::optional<UpstreamError> error;
  if (facts.root == Kind::kObject) {
    error = ErrorOfObject(facts);
  } else if (facts.root == Kind::kArray && facts.first_is_object) {
    if (HasErrorMember(facts)) error = ErrorOfObject(facts);
  }
  if (!error && event == "error") error.emplace();
  return error;
}

}  // namespace sluice::dialect
