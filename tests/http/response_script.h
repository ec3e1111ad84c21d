#ifndef SLUICE_TESTS_HTTP_RESPONSE_SCRIPT_H_
#define SLUICE_TESTS_HTTP_RESPONSE_SCRIPT_H_

#include <string>
#include <vector>

#include "lib/http/response_parser.h"
#include "tests/http/cuts.h"

namespace sluice::http {

/// What a loop around the parser sees of one answer.
struct ResponseOutcome {
  ResponseParser::Result result = ResponseParser::Result::kNeedMore;
  int heads = 0;
  ResponseHead head;
  std::string body;
  std::vector<std::string> runs;  // the body as it was given out
  bool finished_with_last_run = false;
  bool keep_alive = false;
  std::string leftover;
  ResponseParser::Failure failure{Cause::kInternal, ""};
};

/// `eof`: the connection ends behind the pieces.
ResponseOutcome ReadResponse(const Pieces& pieces, bool eof = false, bool head_request = false);

/// All but `runs` and what depends on them, for comparing and for people.
std::string Describe(const ResponseOutcome& outcome);

}  // namespace sluice::http

#endif  // SLUICE_TESTS_HTTP_RESPONSE_SCRIPT_H_
