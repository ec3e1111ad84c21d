#include <string>

#include "absl/strings/str_cat.h"

#include "tests/relay/relay_test.h"
#include "tests/support/scoped_env.h"

// The pool's keys: how they are sent, and which failures lead to another one (ruling 5).

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class KeysTest : public RelayTest {
 protected:
  KeysTest() { ConfigureKeys({"a"}); }

  void ConfigureKeys(std::initializer_list<absl::string_view> endpoints,
                     const std::function<void(config::Pool&)>& edit = nullptr) {
    Configure(endpoints, [&edit](config::Pool& pool) {
      pool.keys = {{.id = "k1", .env = "SLUICE_TEST_K1"}, {.id = "k2", .env = "SLUICE_TEST_K2"}};
      pool.retry.max_attempts = 9;
      if (edit) edit(pool);
    });
  }

  static Script Answering(int status, HeaderList headers = {}) {
    return Script()
        .Head(status, "application/json", std::move(headers))
        .Piece(R"({"error":{"message":"theirs: sk-***two"}})")
        .End();
  }

  /// "a/k1 a/k2": of the last exchange.
  std::string Pairs() const {
    std::string pairs;
    for (const Attempt& attempt : observer_.finished().back().attempts) {
      const absl::string_view endpoint = attempt.endpoint;
      absl::StrAppend(&pairs, pairs.empty() ? "" : " ", endpoint.substr(endpoint.rfind('/') + 1),
                      "/", attempt.key_id);
    }
    return pairs;
  }

  const std::string* SentHeader(size_t attempt, absl::string_view name) const {
    return transport_.sent().at(attempt)->request.headers.Find(name);
  }

  /// One more exchange that succeeds at its first attempt; the key it used.
  std::string KeyOfNext() {
    transport_.Play(GoodStream());
    testing::RecordingSink sink(transcript_);
    const std::unique_ptr<Answer> answer = Serve();
    while (answer->Next(sink) == Answer::Step::kMore) {
    }
    return observer_.finished().back().attempts.empty()
               ? ""
               : observer_.finished().back().attempts.back().key_id;
  }

  testing::ScopedEnv k1_{"SLUICE_TEST_K1", "sk-one"};
  testing::ScopedEnv k2_{"SLUICE_TEST_K2", "sk-two"};
};

TEST_F(KeysTest, SendsThePoolsKeyAndNotTheClients) {
  Request request = ChatRequest();
  request.headers.Add("Authorization", "Bearer client");
  transport_.Play(GoodStream());
  Run(request);
  EXPECT_EQ(*SentHeader(0, "Authorization"), "Bearer sk-one");
  EXPECT_EQ(transport_.sent()[0]->request.headers.Count("Authorization"), 1u);
  EXPECT_EQ(Pairs(), "a/k1");
}

TEST_F(KeysTest, SendsABareKeyInAnotherField) {
  ConfigureKeys({"a"}, [](config::Pool& pool) { pool.key_header = "X-Our-Key"; });
  Request request = ChatRequest();
  request.headers.Add("x-our-key", "client");
  transport_.Play(GoodStream());
  Run(request);
  EXPECT_EQ(*SentHeader(0, "X-Our-Key"), "sk-one");
  EXPECT_EQ(transport_.sent()[0]->request.headers.Count("X-Our-Key"), 1u);
  EXPECT_EQ(SentHeader(0, "Authorization"), nullptr);
}

TEST_F(KeysTest, TakesKeysInTurn) {
  EXPECT_EQ(KeyOfNext(), "k1");
  EXPECT_EQ(KeyOfNext(), "k2");
  EXPECT_EQ(KeyOfNext(), "k1");
}

/// Errors of an upstream that quote what they were sent.
class QuotedKeyTest : public KeysTest, public ::testing::WithParamInterface<Script> {};

TEST_P(QuotedKeyTest, IsShownToNobody) {
  transport_.Play(GetParam());
  transport_.Play(GetParam());
  transport_.Play(GetParam());
  Run();
  EXPECT_GE(sink_.head().status, 400);
  EXPECT_THAT(sink_.body(), HasSubstr("\"error\""));
  EXPECT_THAT(sink_.body(), Not(HasSubstr("sk-")));
  EXPECT_THAT(log_.back(), Not(HasSubstr("sk-")));
}

Script Quoting(int status) {
  return Script()
      .Head(status, "application/json")
      .Piece(R"({"error":{"message":"not sk-one nor sk-two","type":"sk-one","code":"sk-two"}})")
      .End();
}

INSTANTIATE_TEST_SUITE_P(
    , QuotedKeyTest,
    ::testing::Values(Quoting(400), Quoting(401), Quoting(404), Quoting(429), Quoting(500),
                      Quoting(503),
                      Script()
                          .Head(200, kEventStreamType)
                          .Piece("data: {\"error\":{\"message\":\"not sk-one nor sk-two\"}}\n\n")
                          .End()));

struct KeyFailure {
  Script script;
  bool rests;  // the key is not used by the next exchange either
};

class KeyFailureTest : public KeysTest, public ::testing::WithParamInterface<KeyFailure> {};

TEST_P(KeyFailureTest, LeadsSilentlyToAnotherKeyOfTheSameEndpoint) {
  transport_.Play(GetParam().script);
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(Pairs(), "a/k1 a/k2");
  EXPECT_EQ(*SentHeader(1, "Authorization"), "Bearer sk-two");
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop, kDone));
  EXPECT_EQ(cause(), Cause::kCompleted);
  EXPECT_EQ(KeyOfNext(), GetParam().rests ? "k2" : "k1");
}

TEST_P(KeyFailureTest, LeadsSilentlyToAnotherEndpoint) {
  ConfigureKeys({"a", "b"});
  transport_.Play(GetParam().script);
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(Pairs(), "a/k1 b/k2");
  EXPECT_EQ(finished().subject->attempt, 2);
  EXPECT_EQ(finished().subject->key_id, "k2");
  EXPECT_EQ(finished().subject->endpoint, finished().attempts[1].endpoint);
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kStop, kDone));
}

INSTANTIATE_TEST_SUITE_P(
    All, KeyFailureTest,
    ::testing::Values(KeyFailure{Script().Head(401, "application/json").Piece("{}").End(), true},
                      KeyFailure{Script().Head(402, "application/json").Piece("{}").End(), true},
                      KeyFailure{Script().Head(403, "application/json").Piece("{}").End(), true},
                      KeyFailure{Script().Head(429, "application/json").Piece("{}").End(), true},
                      KeyFailure{Script().Head(200, kEventStreamType).Piece(kErrorFrame).End(),
                                 false}));

TEST_F(KeysTest, TriesEachPairOnceAfterErrorFrames) {
  ConfigureKeys({"a", "b"});
  for (int i = 0; i < 4; ++i) {
    transport_.Play(Script().Head(200, kEventStreamType).Piece(kErrorFrame).End());
  }
  Run();
  EXPECT_EQ(Pairs(), "a/k1 b/k2 b/k1 a/k2");
  EXPECT_EQ(sink_.head().status, 502);
}

TEST_F(KeysTest, TriesNoOtherKeyWhereTheEndpointFailed) {
  for (const Script& failure : {Script().Refuse(), Script().Fail(Cause::kUpstreamReset)}) {
    transport_.Play(failure);
    testing::RecordingSink sink(transcript_);
    const std::unique_ptr<Answer> answer = Serve();
    while (answer->Next(sink) == Answer::Step::kMore) {
    }
    EXPECT_EQ(observer_.finished().back().attempts.size(), 1u);
  }
}

TEST_F(KeysTest, RefusesWithoutAnAttemptWhenNoKeyIsUsable) {
  transport_.Play(Answering(401));
  transport_.Play(Answering(403));
  Run();
  EXPECT_EQ(Pairs(), "a/k1 a/k2");
  EXPECT_EQ(KeyOfNext(), "");
  EXPECT_EQ(observer_.finished().back().cause, Cause::kNoCapacity);
  EXPECT_EQ(observer_.finished().back().http_status, 503);
}

TEST_F(KeysTest, SaysWhenTheFirstRestingKeyIsUsableAgain) {
  HeaderList first;
  first.Add("Retry-After", "17");
  HeaderList second;
  second.Add("Retry-After", "40");
  transport_.Play(Answering(429, first));
  transport_.Play(Answering(429, second));
  Run();
  clock_.Advance(seconds(5));
  const std::unique_ptr<Answer> answer = Serve();
  testing::RecordingSink sink(transcript_);
  while (answer->Next(sink) == Answer::Step::kMore) {
  }
  EXPECT_EQ(sink.head().status, 503);
  EXPECT_EQ(*sink.head().headers.Find("Retry-After"), "12");
}

TEST_F(KeysTest, PromisesNothingWhenAllKeysAreRefused) {
  transport_.Play(Answering(401));
  transport_.Play(Answering(403));
  for (int i = 0; i < 2; ++i) {  // after attempts, and without one
    const testing::RecordingSink sink = RunApart();
    EXPECT_EQ(sink.head().status, 503);
    EXPECT_EQ(sink.head().headers.Find("Retry-After"), nullptr);
    EXPECT_THAT(observer_.finished().back().detail, HasSubstr("none of the keys is used before"));
  }
}

TEST_F(KeysTest, ARestingKeyIsWorthComingAgainForBesideARefusedOne) {
  HeaderList asks;
  asks.Add("Retry-After", "9");
  transport_.Play(Answering(401));
  transport_.Play(Answering(429, asks));
  Run();
  const testing::RecordingSink sink = RunApart();
  EXPECT_EQ(sink.head().status, 503);
  EXPECT_EQ(*sink.head().headers.Find("Retry-After"), "9");
}

TEST_F(KeysTest, AnotherPoolMayDoBetterSoonerThanTheKeysOfOne) {
  transport_.Play(Answering(401));
  transport_.Play(Answering(401));
  Run();
  config::Config config = store_.Current()->config();
  config.pools.push_back({.id = "spare", .endpoints = {}});
  for (const auto& [pool, fallback] : {std::pair("chat", "spare"), std::pair("spare", "chat")}) {
    config.routes[0].pool = pool;
    config.routes[0].fallbacks = {{.pool = fallback}};
    ConfigureAll(config);
    transport_.Play(Answering(401));
    transport_.Play(Answering(401));
    const testing::RecordingSink sink = RunApart();
    EXPECT_EQ(sink.head().status, 503);
    ASSERT_NE(sink.head().headers.Find("Retry-After"), nullptr) << pool;
    EXPECT_EQ(*sink.head().headers.Find("Retry-After"), "1");
  }
}

TEST_F(KeysTest, TellsNoClientWhatAnUpstreamSaysOfOurKeys) {
  transport_.Play(Answering(401));
  transport_.Play(Answering(401));
  Run();
  EXPECT_EQ(sink_.head().status, 503);
  EXPECT_THAT(sink_.body(), HasSubstr("\"no_capacity\""));
  EXPECT_THAT(sink_.body(), Not(HasSubstr("sk-")));
  EXPECT_EQ(attempt_failures(), "upstream_status upstream_status");
}

TEST_F(KeysTest, RelaysTheLast429WithItsRetryAfter) {
  HeaderList headers;
  headers.Add("Retry-After", "17");
  transport_.Play(Answering(429));
  transport_.Play(Answering(429, headers));
  Run();
  EXPECT_EQ(sink_.head().status, 429);
  EXPECT_EQ(*AnswerHeader("Retry-After"), "17");
  clock_.Advance(milliseconds(1200));  // the first backoff and its jitter
  EXPECT_EQ(KeyOfNext(), "k1");
  EXPECT_EQ(KeyOfNext(), "k1");
  clock_.Advance(seconds(16));
  EXPECT_EQ(KeyOfNext(), "k2");
}

TEST_F(KeysTest, UsesARefusedKeyAgainWhenTheConfigurationChanges) {
  transport_.Play(Answering(401));
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(KeyOfNext(), "k2");
  ConfigureKeys({"a"});
  EXPECT_EQ(KeyOfNext(), "k1");
}

TEST_F(KeysTest, AppearNowhereButUpstream) {
  transport_.Play(Answering(401));
  transport_.Play(Script().Refuse());
  Run();
  EXPECT_THAT(sink_.body(), Not(HasSubstr("sk-")));
  EXPECT_THAT(transcript_.text(), Not(HasSubstr("sk-")));
  EXPECT_THAT(finished().detail, Not(HasSubstr("sk-")));
  for (const std::string& line : log_) EXPECT_THAT(line, Not(HasSubstr("sk-")));
}

}  // namespace
}  // namespace sluice::relay
