#include <string>

#include "absl/strings/str_cat.h"

#include "tests/relay/relay_test.h"

// Client keys, principals' limits, full pools and their queues, as the client sees them.

namespace sluice::relay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class AdmissionTest : public RelayTest {
 protected:
  static Request RequestWithKey(absl::string_view field, absl::string_view value) {
    Request request = ChatRequest();
    request.headers.Add(field, value);
    return request;
  }

  /// As RunApart, through a proxy that has `client_keys_`.
  testing::RecordingSink RunKeyed(Request request) {
    testing::RecordingSink sink(transcript_);
    Proxy proxy(Deps(observers_));
    const std::unique_ptr<Answer> answer =
        proxy.Serve(std::move(request), clock_.Now(), cancellation_);
    while (answer->Next(sink) == Answer::Step::kMore) {
    }
    return sink;
  }

  void ConfigurePrincipals(std::vector<config::Principal> principals) {
    config::Config config = store_.Current()->config();
    config.principals = std::move(principals);
    ConfigureAll(std::move(config));
  }
};

TEST_F(AdmissionTest, TakesAKeyFromEachFieldThatClientsSendItIn) {
  RequireClientKeys({{"alice", "sk-alice"}, {"bob", "sk-bob"}});
  for (const auto& [field, value] :
       {std::pair("Authorization", "Bearer sk-bob"), std::pair("x-api-key", "sk-bob"),
        std::pair("api-key", "sk-bob")}) {
    transport_.Play(GoodStream());
    RunKeyed(RequestWithKey(field, value));
    EXPECT_EQ(observer_.finished().back().cause, Cause::kCompleted) << field;
    EXPECT_EQ(observer_.finished().back().info().principal, "bob") << field;
    EXPECT_EQ(transport_.sent().back()->request.headers.Find(field), nullptr) << field;
  }
}

TEST_F(AdmissionTest, RefusesAKeyThatIsNobodys) {
  RequireClientKeys({{"alice", "sk-alice"}});
  const testing::RecordingSink sink =
      RunKeyed(RequestWithKey("Authorization", "Bearer sk-mallory"));
  EXPECT_EQ(cause(), Cause::kUnauthenticated);
  EXPECT_EQ(sink.head().status, 401);
  EXPECT_EQ(*sink.head().headers.Find("WWW-Authenticate"), "Bearer");
  EXPECT_TRUE(transport_.sent().empty());
  EXPECT_EQ(finished().info().principal, "anonymous");
  EXPECT_THAT(sink.body(), Not(HasSubstr("mallory")));
}

TEST_F(AdmissionTest, RefusesAModelThatThePrincipalMayNotUse) {
  ConfigurePrincipals({{.id = "*", .models = {"gpt-*"}}});
  Run();
  EXPECT_EQ(cause(), Cause::kForbidden);
  EXPECT_EQ(sink_.head().status, 403);
  EXPECT_THAT(sink_.body(), HasSubstr("lantern-8b"));
}

TEST_F(AdmissionTest, CountsThePrincipalsExchangesInFlight) {
  ConfigurePrincipals({{.id = "anonymous", .max_in_flight = 1}});
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> first = Serve();
  EXPECT_EQ(gate_.principals.Read("anonymous"), 1);
  Run();
  EXPECT_EQ(sink_.head().status, 429);
  EXPECT_EQ(*AnswerHeader("Retry-After"), "1");
  EXPECT_EQ(cause(), Cause::kOverLimit);
}

TEST_F(AdmissionTest, TellsTheModelsToAPrincipalThatHasAllItMayInFlight) {
  config::Config config = store_.Current()->config();
  config.principals = {{.id = "anonymous", .max_in_flight = 1}};
  config.routes[0].model = "lantern-8b";
  ConfigureAll(std::move(config));
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> first = Serve();
  Request request;
  request.method = "GET";
  request.target = "/v1/models";
  const testing::RecordingSink sink = RunApart(request);
  EXPECT_EQ(sink.head().status, 200);
  EXPECT_THAT(sink.body(), HasSubstr("lantern-8b"));
  EXPECT_EQ(gate_.principals.Read("anonymous"), 1);
}

TEST_F(AdmissionTest, TellsAClientOverItsRequestsWhenToComeAgain) {
  ConfigurePrincipals({{.id = "*", .rates = {{.model = "*", .requests_per_minute = 2}}}});
  for (int i = 0; i < 2; ++i) {
    transport_.Play(GoodStream());
    RunApart();
  }
  Run();
  EXPECT_EQ(observer_.finished().back().cause, Cause::kOverLimit);
  EXPECT_EQ(sink_.head().status, 429);
  EXPECT_EQ(*AnswerHeader("Retry-After"), "30");
  EXPECT_EQ(*AnswerHeader("x-ratelimit-limit-requests"), "2");
  EXPECT_EQ(*AnswerHeader("x-ratelimit-remaining-requests"), "0");
  EXPECT_THAT(sink_.body(), HasSubstr("over the limit of 2 requests a minute"));

  clock_.Advance(seconds(30));
  transport_.Play(GoodStream());
  RunApart();
  EXPECT_EQ(observer_.finished().back().cause, Cause::kCompleted);
}

TEST_F(AdmissionTest, SettlesTheTokensThatWereReported) {
  ConfigurePrincipals({{.id = "*", .rates = {{.model = "*", .tokens_per_minute = 7}}}});
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(kHello).Piece(kUsage).Piece(kDone).End());
  RunApart();
  EXPECT_EQ(observer_.finished().back().cause, Cause::kCompleted);
  RunApart();
  EXPECT_EQ(observer_.finished().back().cause, Cause::kOverLimit);
  clock_.Advance(seconds(60));
  transport_.Play(GoodStream());
  RunApart();
  EXPECT_EQ(observer_.finished().back().cause, Cause::kCompleted);
}

TEST_F(AdmissionTest, CountsAllModelsOfARateTogether) {
  ConfigurePrincipals({{.id = "*", .rates = {{.model = "gpt-*", .requests_per_minute = 1}}}});
  for (const auto& [model, expected] :
       {std::pair("gpt-1", Cause::kCompleted), std::pair("gpt-2", Cause::kOverLimit)}) {
    if (expected == Cause::kCompleted) transport_.Play(GoodStream());
    Request request = ChatRequest();
    request.body = absl::StrCat(R"({"model":")", model, R"(","stream":true})");
    RunApart(request);
    EXPECT_EQ(observer_.finished().back().cause, expected) << model;
  }
}

TEST_F(AdmissionTest, HasStreamsReportTheTokensThatAreLimited) {
  ConfigurePrincipals({{.id = "*", .rates = {{.model = "*", .tokens_per_minute = 100}}}});
  transport_.Play(
      Script().Head(200, kEventStreamType).Piece(kHello).Piece(kUsage).Piece(kDone).End());
  Run();
  EXPECT_THAT(transport_.sent().at(0)->body, HasSubstr(R"("include_usage":true)"));
  EXPECT_EQ(sink_.body(), absl::StrCat(kHello, kDone));
}

TEST_F(AdmissionTest, NeverPassesAClientKeyThrough) {
  Configure({"a"},
            [](config::Pool& pool) { pool.credentials = config::Credentials::kPassThrough; });
  RequireClientKeys({{"alice", "sk-alice"}});
  transport_.Play(GoodStream());
  RunKeyed(RequestWithKey("Authorization", "Bearer sk-alice"));
  EXPECT_EQ(transport_.sent().at(0)->request.headers.Find("Authorization"), nullptr);
}

TEST_F(AdmissionTest, ARequestThatWaitsGoesByTheConfigurationInForce) {
  const auto limit = [](int most) {
    return [most](config::Pool& pool) {
      pool.max_in_flight = most;
      pool.queue.capacity = 1;
    };
  };
  Configure({"a"}, limit(1));
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> first = Serve();
  parking_lot_.while_parked = [&] {
    Configure({"b"}, limit(2));
    gate_.queues.SignalAll();
  };
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(observer_.finished().back().cause, Cause::kCompleted);
  EXPECT_EQ(transport_.sent().back()->address.uri.host, "b.test");
}

TEST_F(AdmissionTest, EndsARunningStreamOverItsTokensOnlyIfThePolicySaysSo) {
  for (const bool end_streams : {false, true}) {
    ConfigurePrincipals({{.id = "*",
                          .rates = {{.model = "*", .tokens_per_minute = 6}},
                          .end_streams = end_streams}});
    clock_.Advance(std::chrono::hours(2));
    transport_.Play(Script()
                        .Head(200, kEventStreamType)
                        .Piece(kHello)
                        .Piece(kUsage)
                        .Piece(kStop)
                        .Piece(kDone)
                        .End());
    const testing::RecordingSink sink = RunApart();
    EXPECT_EQ(observer_.finished().back().cause,
              end_streams ? Cause::kOverLimit : Cause::kCompleted);
    if (end_streams) {
      EXPECT_THAT(sink.body(), HasSubstr("data: {\"error\""));
      EXPECT_THAT(sink.body(), HasSubstr("\"code\":\"over_limit\""));
      EXPECT_THAT(sink.body(), Not(HasSubstr("[DONE]")));
    }
  }
}

TEST_F(AdmissionTest, RefusesWhatAFullPoolWithoutAQueueCannotTake) {
  Configure({"a"}, [](config::Pool& pool) { pool.max_in_flight = 1; });
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> first = Serve();
  Run();
  EXPECT_EQ(sink_.head().status, 503);
  EXPECT_NE(AnswerHeader("Retry-After"), nullptr);
  EXPECT_EQ(cause(), Cause::kNoCapacity);
  EXPECT_EQ(finished().detail, "the pool is full");
}

TEST_F(AdmissionTest, WaitsForAPlaceInAFullPool) {
  Configure({"a"}, [](config::Pool& pool) {
    pool.max_in_flight = 1;
    pool.queue.capacity = 1;
  });
  transport_.Play(GoodStream());
  std::unique_ptr<Answer> first = Serve();
  parking_lot_.while_parked = [&] {
    EXPECT_EQ(gate_.queues.Depth("chat"), 1u);
    EXPECT_EQ(registry_.ListRunning().front().record->phase, Phase::kQueue);
    first.reset();  // frees the place
  };
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(parking_lot_.waits, 1);
  EXPECT_EQ(observer_.finished().back().cause, Cause::kCompleted);
}

TEST_F(AdmissionTest, WaitsForAnEndpointThatHasRoom) {
  Configure({"a"}, [](config::Pool& pool) {
    pool.endpoints[0].max_in_flight = 1;
    pool.queue.capacity = 1;
  });
  transport_.Play(GoodStream());
  std::unique_ptr<Answer> first = Serve();
  parking_lot_.while_parked = [&] {
    EXPECT_EQ(gate_.queues.Depth("chat"), 1u);
    EXPECT_EQ(gate_.pools.Read("chat"), 1) << "who waits is not in flight";
    first.reset();
  };
  transport_.Play(GoodStream());
  Run();
  EXPECT_EQ(parking_lot_.waits, 1);
  EXPECT_EQ(observer_.finished().back().cause, Cause::kCompleted);
}

TEST_F(AdmissionTest, WaitsNoLongerThanTheQueueAllows) {
  Configure({"a"}, [](config::Pool& pool) {
    pool.max_in_flight = 1;
    pool.queue = {.capacity = 1, .max_wait = seconds(5)};
  });
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> first = Serve();
  const Instant before = clock_.Now();
  Run();
  EXPECT_EQ(clock_.Now() - before, seconds(5));
  EXPECT_EQ(sink_.head().status, 503);
  EXPECT_EQ(finished().detail, "the pool was full for as long as a request may wait");
}

TEST_F(AdmissionTest, RefusesWhatAFullQueueCannotTake) {
  Configure({"a"}, [](config::Pool& pool) {
    pool.max_in_flight = 1;
    pool.queue.capacity = 1;
  });
  transport_.Play(GoodStream());
  const std::unique_ptr<Answer> first = Serve();
  parking_lot_.while_parked = [&] {
    testing::RecordingSink sink(transcript_);
    Proxy proxy(Deps(observers_));
    const std::unique_ptr<Answer> third = proxy.Serve(ChatRequest(), clock_.Now(), cancellation_);
    while (third->Next(sink) == Answer::Step::kMore) {
    }
    EXPECT_EQ(sink.head().status, 503);
  };
  Run();
  EXPECT_EQ(observer_.finished().front().detail, "the pool is full, and so is its queue");
}

TEST_F(AdmissionTest, AClientThatLeavesGivesUpItsPlaceInTheQueue) {
  Configure({"a"}, [](config::Pool& pool) {
    pool.max_in_flight = 1;
    pool.queue.capacity = 1;
  });
  transport_.Play(GoodStream());
  std::unique_ptr<Answer> first = Serve();
  parking_lot_.while_parked = [&] { cancellation_.Cancel(Cause::kClientGone, clock_.Now()); };
  Run();
  EXPECT_EQ(cause(), Cause::kClientGone);
  EXPECT_FALSE(sink_.has_head());
  EXPECT_EQ(gate_.queues.Depth("chat"), 0u);
  EXPECT_EQ(transport_.sent().size(), 1u);
}

}  // namespace
}  // namespace sluice::relay
