#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"

#include "tests/admin/sluicectl_test.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

v1::DrainProgress Progress(const std::string& text) {
  v1::DrainProgress progress;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &progress)) << text;
  return progress;
}

class DrainCommandTest : public SluicectlTest {
 protected:
  /// Has the server answer with these.
  void Answer(const std::vector<std::string>& responses) {
    server_.drain = [responses](grpc::ServerContext*, FakeControlServer::DrainWriter* writer) {
      for (const std::string& text : responses) writer->Write(Progress(text));
      return grpc::Status::OK;
    };
  }
};

constexpr char kTwoRemain[] = R"(
  remaining: 2 oldest { id: "x5f3a09c100000002" model: "m1" age { seconds: 125 } }
  oldest { id: "x5f3a09c100000003" model: "m2" age { seconds: 1 } } deadline { seconds: 1767323645 } )";

TEST_F(DrainCommandTest, SaysHowFarItIsAndThatNobodyIsLeft) {
  Answer({kTwoRemain, "remaining: 1 deadline { seconds: 1767323040 }", "done: true"});
  EXPECT_EQ(Run({"endpoint", "drain", "chat/a", "--reason", "new driver"}), ExitCode::kOk);
  EXPECT_EQ(out(), "drained: endpoint chat/a serves nobody any more\n");
  EXPECT_EQ(err(),
            "sluicectl: 2 exchanges remain; the oldest is x5f3a09c100000002 of m1, 2m05s old; "
            "10m00s left\n"
            "sluicectl: 1 exchange remains; the time is up\n"
            "sluicectl: it can be stopped; `sluicectl endpoint resume chat/a` sends it attempts "
            "again\n");
  EXPECT_THAT(server_.requests(),
              ElementsAre("name: \"pools/chat/endpoints/a\" timeout { seconds: 600 } "
                          "reason: \"new driver\""));
}

TEST_F(DrainCommandTest, ShowsWhoIsLeftAtTheDeadline) {
  Answer({std::string(kTwoRemain) + " done: true"});
  EXPECT_EQ(Run({"endpoint", "drain", "chat/a", "--timeout", "1500ms"}), ExitCode::kError);
  EXPECT_THAT(out(), StartsWith("ID  "));
  EXPECT_THAT(out(), HasSubstr("x5f3a09c100000003"));
  EXPECT_EQ(err(),
            "sluicectl: the time is up, and endpoint chat/a still serves 2 exchanges\n"
            "Drain it again to wait longer, or with --cancel to end them.\n"
            "`sluicectl endpoint resume chat/a` sends it attempts again.\n");
  EXPECT_THAT(server_.requests()[0], HasSubstr("timeout { seconds: 1 nanos: 500000000 }"));
}

TEST_F(DrainCommandTest, IsDoneWhenThoseThatRemainedWereCancelled) {
  Answer({kTwoRemain, "cancelled: 2 done: true"});
  EXPECT_EQ(Run({"endpoint", "drain", "chat/a", "--cancel"}), ExitCode::kOk);
  EXPECT_EQ(out(), "drained: endpoint chat/a serves nobody any more; cancelled 2 exchanges\n");
  EXPECT_THAT(server_.requests()[0], HasSubstr("cancel: true"));
}

TEST_F(DrainCommandTest, IsNotDoneWhileACancelledOneIsStillThere) {
  Answer({"remaining: 1 cancelled: 2 done: true"});
  EXPECT_EQ(Run({"endpoint", "drain", "chat/a", "--cancel"}), ExitCode::kError);
  EXPECT_THAT(err(), HasSubstr("still serves 1 exchange, of which 2 were cancelled\n"));
}

TEST_F(DrainCommandTest, AnInterruptSaysWhatStaysAndHowToGoBack) {
  server_.drain = [this](grpc::ServerContext* context, FakeControlServer::DrainWriter* writer) {
    writer->Write(Progress(kTwoRemain));
    stop_.request_stop();
    while (!context->IsCancelled()) std::this_thread::yield();
    return grpc::Status::CANCELLED;
  };
  EXPECT_EQ(Run({"endpoint", "drain", "chat/a"}), ExitCode::kError);
  EXPECT_EQ(out(), "");
  EXPECT_THAT(err(), ::testing::EndsWith(
                         "sluicectl: not waiting any more; endpoint chat/a stays drained, and "
                         "nothing is cancelled\n"
                         "`sluicectl endpoint resume chat/a` sends it attempts again.\n"));
}

TEST_F(DrainCommandTest, ALostServerIsUnreachable) {
  server_.drain = [](grpc::ServerContext*, FakeControlServer::DrainWriter*) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
  };
  EXPECT_EQ(Run({"endpoint", "drain", "chat/a"}), ExitCode::kUnreachable);
  EXPECT_THAT(err(), ::testing::Not(HasSubstr("stays drained")));
}

TEST_F(DrainCommandTest, AsJsonIsAProgressALine) {
  Answer({kTwoRemain, "remaining: 0 done: true"});
  EXPECT_EQ(Run({"server", "drain", "--output", "json"}), ExitCode::kOk);
  EXPECT_THAT(out(), StartsWith("{\"remaining\":\"2\""));
  EXPECT_THAT(out(), HasSubstr("}\n{\"remaining\":\"0\""));
}

TEST_F(DrainCommandTest, OfTheServerSaysThatThereIsNoWayBack) {
  Answer({"done: true"});
  EXPECT_EQ(Run({"server", "drain", "--timeout=1h", "--cancel"}), ExitCode::kOk);
  EXPECT_EQ(out(), "drained: the server serves nobody any more\n");
  EXPECT_THAT(err(), HasSubstr("until it is restarted"));
  EXPECT_THAT(server_.requests(), ElementsAre("timeout { seconds: 3600 } cancel: true"));
}

TEST_F(DrainCommandTest, RefusesATimeoutThatMeansNothing) {
  for (const char* timeout : {"soon", "-1s", "25h", "inf"}) {
    EXPECT_EQ(Run({"server", "drain", "--timeout", timeout}), ExitCode::kUsage) << timeout;
    EXPECT_EQ(Run({"endpoint", "drain", "chat/a", "--timeout", timeout}), ExitCode::kUsage);
  }
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(DrainCommandTest, ResumeSaysTheState) {
  server_.endpoint.set_name("pools/chat/endpoints/a");
  server_.endpoint.set_state(v1::EndpointStatus::STATE_ACTIVE);
  EXPECT_EQ(Run({"endpoint", "resume", "chat/a", "--reason", "well again"}), ExitCode::kOk);
  EXPECT_EQ(out(), "resumed: endpoint chat/a is active\n");
  EXPECT_THAT(server_.requests(),
              ElementsAre("name: \"pools/chat/endpoints/a\" reason: \"well again\""));

  v1::ErrorDetail detail;
  detail.set_reason("ENDPOINT_UNKNOWN");
  server_.endpoint_result = FakeControlServer::Error(grpc::StatusCode::NOT_FOUND, "none", detail);
  EXPECT_EQ(Run({"endpoint", "resume", "chat/z"}), ExitCode::kNotFound);
  EXPECT_THAT(err(), HasSubstr("`sluicectl endpoint list` shows those there are."));
}

TEST_F(DrainCommandTest, EndpointsAreATable) {
  v1::EndpointStatus* a = server_.endpoints.add_endpoints();
  a->set_name("pools/chat/endpoints/a");
  a->set_uri("http://127.0.0.1:9000");
  a->set_state(v1::EndpointStatus::STATE_DRAINING);
  a->set_in_flight(3);
  a->set_attempts(1200);
  a->set_failed_attempts(7);
  v1::EndpointStatus* gone = server_.endpoints.add_endpoints();
  gone->set_name("pools/chat/endpoints/old");
  gone->set_state(v1::EndpointStatus::STATE_REMOVED);
  EXPECT_EQ(Run({"endpoint", "list", "--pool", "chat"}), ExitCode::kOk);
  EXPECT_EQ(out(),
            "NAME      STATE     IN FLIGHT  ATTEMPTS  FAILED  TTFT  URI                    NOTE\n"
            "chat/a    draining          3      1200       7     -  http://127.0.0.1:9000\n"
            "chat/old  removed           0         0       0     -  -\n");
  EXPECT_THAT(server_.requests(), ElementsAre("pool: \"chat\""));
  out_.str("");
  EXPECT_EQ(Run({"endpoint", "list", "--output", "json"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("}\n{\"name\":\"pools/chat/endpoints/old\""));
}

TEST_F(DrainCommandTest, AnEndpointSaysWhatKeepsRequestsAway) {
  v1::EndpointStatus* a = server_.endpoints.add_endpoints();
  a->set_name("pools/chat/endpoints/a");
  a->set_uri("http://a");
  a->set_state(v1::EndpointStatus::STATE_EJECTED);
  a->set_consecutive_failures(5);
  a->set_last_failure("connect_failed");
  a->mutable_ejected_until()->set_seconds(3661);
  a->mutable_first_frame()->set_nanos(250'000'000);
  EXPECT_EQ(Run({"endpoint", "list"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("ejected"));
  EXPECT_THAT(out(), HasSubstr("250ms  http://a  until 01:01:01; 5 failed in a row, last "
                               "connect_failed\n"));
}

TEST_F(DrainCommandTest, PoolsAreATable) {
  v1::PoolStatus* pool = server_.endpoints.add_pools();
  pool->set_id("chat");
  pool->set_in_flight(7);
  pool->set_waiting(2);
  pool->set_retry_tokens(99.5);
  pool->add_keys()->set_id("k1");
  pool->mutable_keys(0)->set_state(v1::KeyStatus::STATE_ACTIVE);
  pool->add_keys()->set_id("k2");
  pool->mutable_keys(1)->set_state(v1::KeyStatus::STATE_RESTING);
  pool->mutable_keys(1)->mutable_until()->set_seconds(61);
  server_.endpoints.add_pools()->set_id("spare");
  EXPECT_EQ(Run({"pool", "list"}), ExitCode::kOk);
  EXPECT_EQ(out(),
            "POOL   IN FLIGHT  WAITING  RETRY TOKENS  KEYS USABLE\n"
            "chat           7        2          99.5  1 of 2: k2 resting until 00:01:01\n"
            "spare          0        0           0.0  none\n");
  out_.str("");
  EXPECT_EQ(Run({"pool", "list", "--output", "json"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("}\n{\"id\":\"spare\","));
}

}  // namespace
}  // namespace sluice::admin
