#ifndef SLUICE_TESTS_HTTP_REQUEST_SCRIPT_H_
#define SLUICE_TESTS_HTTP_REQUEST_SCRIPT_H_

#include <string>

#include "lib/http/request_parser.h"
#include "tests/http/cuts.h"

namespace sluice::http {

/// What a server's loop around the parser sees of one connection.
struct RequestOutcome {
  RequestParser::Result result = RequestParser::Result::kNeedMore;
  int heads = 0;  // how often kHeadDone came
  bool wants_continue = false;
  bool keep_alive = false;
  Request request;
  std::string leftover;  // bytes behind the request
  Refusal refusal{Cause::kInternal, ""};
};

RequestOutcome ReadRequest(const Pieces& pieces, const RequestParser::Limits& limits = {});

/// All of it, for comparing and for people.
std::string Describe(const RequestOutcome& outcome);

}  // namespace sluice::http

#endif  // SLUICE_TESTS_HTTP_REQUEST_SCRIPT_H_
