#include "lib/dialect/answer_facts.h"
#include "lib/dialect/dialect.h"
#include "lib/dialect/usage.h"

namespace sluice::dialect {

std::optional<Usage> UsageOfBody(Dialect dialect, absl::string_view body, bool* complete) {
  AnswerFacts facts;
  *complete = ReadAnswerFacts(body, &facts);
  if (facts.root != Kind::kObject) return std::nullopt;
  UsageReader usage(dialect);
  usage.Take(facts.usage);
  return usage.usage();
}

std::optional<UpstreamError> ErrorOfBody(absl::string_view body) {
  AnswerFacts facts;
  ReadAnswerFacts(body, &facts);
  return ErrorOf(facts, /*event=*/"");
}

}  // namespace sluice::dialect
