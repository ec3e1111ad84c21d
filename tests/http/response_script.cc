#include "tests/http/response_script.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace sluice::http {

using Result = ResponseParser::Result;

ResponseOutcome ReadResponse(const Pieces& pieces, bool eof, bool head_request) {
  ResponseParser parser(head_request);
  ResponseOutcome outcome;
  size_t at = 0;
  std::string buffer;
  while (true) {
    outcome.result = parser.Next();
    if (outcome.result == Result::kNeedMore) {
      if (at < pieces.size()) {
        buffer = pieces[at++];
        parser.Feed(buffer.data(), buffer.size());
        continue;
      }
      if (eof) outcome.result = parser.FinishOnEof();
      break;
    }
    if (outcome.result == Result::kHead) {
      ++outcome.heads;
      outcome.head = parser.TakeHead();
    } else if (outcome.result == Result::kBody) {
      absl::StrAppend(&outcome.body, parser.body());
      outcome.runs.emplace_back(parser.body());
      outcome.finished_with_last_run = parser.finished();
    } else {
      break;
    }
  }
  if (outcome.result == Result::kError) {
    outcome.failure = parser.failure();
    return outcome;
  }
  outcome.leftover = std::string(parser.unread());
  outcome.keep_alive = parser.keep_alive();
  while (at < pieces.size()) absl::StrAppend(&outcome.leftover, pieces[at++]);
  return outcome;
}

std::string Describe(const ResponseOutcome& outcome) {
  std::string text = absl::StrCat(
      "result=", static_cast<int>(outcome.result), " heads=", outcome.heads,
      " failure=", InfoOf(outcome.failure.cause).label, " ", outcome.failure.detail, "\n1.",
      outcome.head.minor_version, " ", outcome.head.status, " ", outcome.head.reason, "\n");
  for (const Header& field : outcome.head.headers) {
    absl::StrAppend(&text, field.name, "=", field.value, "\n");
  }
  return absl::StrCat(text, "body=", outcome.body, "\nleftover=", outcome.leftover);
}

}  // namespace sluice::http
