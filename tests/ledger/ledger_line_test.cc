#include "lib/ledger/ledger_line.h"

#include <chrono>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/ledger/finished_exchange.h"

namespace sluice::ledger {
namespace {

using namespace std::chrono_literals;
using testing::FinishedExchange;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LedgerLineTest, TellsAllThereIsToTell) {
  Exchange x;
  ExchangeInfo info;
  info.id = {0x5f3a09c100000001};
  info.request_id = "r-1";
  info.principal = "alice";
  info.model = "m\"1";
  info.pool = "chat";
  info.stream = true;
  info.started = absl::FromUnixMillis(1'767'323'045'678);
  x.subject = std::make_shared<const Subject>(
      Subject{.exchange = std::make_shared<const ExchangeInfo>(info),
              .endpoint = "pools/chat/endpoints/b",
              .key_id = "k1",
              .attempt = 2});
  x.attempts.resize(2);
  x.cause = Cause::kTruncated;
  x.http_status = 200;
  x.stamps.first_frame = x.stamps.accepted + 120ms;
  x.stamps.done = x.stamps.accepted + 1500ms;
  x.bytes_from_upstream = 900;
  x.bytes_to_client = 800;
  x.usage = Usage{5, 2, 7, 3, 1};
  x.provenance = Provenance::kPartial;
  EXPECT_EQ(LedgerLine(x),
            R"({"time":"2026-01-02T03:04:07.178Z","id":"x5f3a09c100000001","request_id":"r-1",)"
            R"("principal":"alice","model":"m\"1","pool":"chat",)"
            R"("endpoint":"pools/chat/endpoints/b","key":"k1","cause":"truncated",)"
            R"("http_status":200,"attempts":2,"stream":true,"usage":"partial","prompt_tokens":5,)"
            R"("completion_tokens":2,"total_tokens":7,"cached_tokens":3,"reasoning_tokens":1,)"
            R"("upstream_bytes":900,"client_bytes":800,"duration_ms":1500,"ttft_ms":120})");
}

TEST(LedgerLineTest, LeavesOutWhatThereIsNot) {
  const std::string line = LedgerLine(*FinishedExchange({}));
  EXPECT_THAT(line, HasSubstr(R"("usage":"absent","upstream_bytes":0)"));
  EXPECT_THAT(line, Not(HasSubstr("tokens")));
  EXPECT_THAT(line, Not(HasSubstr("ttft")));
}

TEST(LedgerLineTest, IsOneLineOfUtf8WhateverAClientSends) {
  const std::string line = LedgerLine(*FinishedExchange({.model = "a\n\xFF\"}\x01"}));
  EXPECT_THAT(line, HasSubstr("\"model\":\"a\\u000a\xEF\xBF\xBD\\\"}\\u0001\""));
  EXPECT_EQ(LedgerLine(*FinishedExchange({.model = std::string(1 << 20, 'x')})).size(),
            LedgerLine(*FinishedExchange({.model = std::string(256, 'x')})).size());
}

}  // namespace
}  // namespace sluice::ledger
