#include "lib/dialect/answer_facts.h"
#include "lib/dialect/dialect.h"
#include "lib/dialect/usage.h"

namespace sluice::dialect {

BodyView ReadBody(Dialect dialect, absl::string_view body) {
  BodyView view;
  AnswerFacts facts;
  view.complete = ReadAnswerFacts(body, &facts);
  view.error = ErrorOf(facts, /*event=*/"");
  if (facts.root != Kind::kObject) return view;
  UsageReader usage(dialect);
  usage.Take(facts.usage);
  view.usage = usage.usage();
  return view;
}

}  // namespace sluice::dialect
