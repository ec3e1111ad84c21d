#include "tests/http/request_script.h"

#include "absl/strings/str_cat.h"

namespace sluice::http {

using Result = RequestParser::Result;

RequestOutcome ReadRequest(const Pieces& pieces, const RequestParser::Limits& limits) {
  RequestParser parser(limits);
  RequestOutcome outcome;
  for (const std::string& piece : pieces) {
    absl::string_view unread = piece;
    do {
      if (outcome.result == Result::kDone) break;
      size_t consumed = 0;
      outcome.result = parser.Feed(unread, &consumed);
      unread.remove_prefix(consumed);
      if (outcome.result == Result::kHeadDone) {
        ++outcome.heads;
        outcome.wants_continue = parser.wants_continue();
      }
    } while (outcome.result == Result::kHeadDone);
    absl::StrAppend(&outcome.leftover, unread);
  }
  if (outcome.result == Result::kRefused) {
    outcome.refusal = parser.refusal();
    outcome.leftover.clear();  // never looked at
  }
  if (outcome.result == Result::kDone) {
    outcome.keep_alive = parser.keep_alive();
    outcome.request = parser.TakeRequest();
  }
  return outcome;
}

std::string Describe(const RequestOutcome& outcome) {
  const Request& request = outcome.request;
  std::string text = absl::StrCat(
      "result=", static_cast<int>(outcome.result), " heads=", outcome.heads,
      " cause=", InfoOf(outcome.refusal.cause).label, " message=", outcome.refusal.message, "\n",
      request.method, " ", request.target, " 1.", request.minor_version,
      " continue=", outcome.wants_continue, " keep_alive=", outcome.keep_alive, "\n");
  for (const Header& field : request.headers) {
    absl::StrAppend(&text, field.name, "=", field.value, "\n");
  }
  return absl::StrCat(text, "body=", request.body, "\nleftover=", outcome.leftover);
}

}  // namespace sluice::http
