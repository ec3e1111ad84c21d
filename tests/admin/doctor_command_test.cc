#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"

#include "tests/admin/sluicectl_test.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

class DoctorTest : public SluicectlTest {
 protected:
  /// A server of which nothing can be complained, up for 100 s.
  DoctorTest() {
    server_.status = Parse<v1::ServerStatus>(R"(
      start_time { seconds: 1767322945 } in_flight: 3 watchers: 1
      ring { capacity: 1000 size: 1000 published: 1500 })");
    EXPECT_EQ(Run({"version", "--output", "json"}), ExitCode::kOk);
    const std::string version = out();
    server_.status.set_version(version.substr(12, version.rfind('"') - 12));
    out_.str("");
    server_.config = Parse<v1::Config>(R"(
      generation: 4 etag: "e4" limits { max_in_flight: 10 }
      pools { id: "chat" endpoints { id: "a" } endpoints { id: "b" } }
      routes { model: "*" pool: "chat" })");
    server_.endpoints = Parse<v1::ListEndpointsResponse>(R"(
      endpoints { name: "pools/chat/endpoints/a" state: STATE_ACTIVE attempts: 2 failed_attempts: 2 }
      endpoints { name: "pools/chat/endpoints/b" state: STATE_ACTIVE attempts: 99 failed_attempts: 9 })");
  }

  /// What is said when there is one thing to complain of.
  std::string Complaint() {
    out_.str("");
    EXPECT_EQ(Run({"doctor"}), ExitCode::kError) << out();
    const std::string all = out();
    const size_t start = all.find("WARN  ");
    EXPECT_EQ(start, all.rfind("WARN  ")) << all;
    return all.substr(start, all.find("OK  ", start) - start);
  }
};

TEST_F(DoctorTest, FindsNothingWhereNothingIsWrong) {
  EXPECT_EQ(Run({"doctor"}), ExitCode::kOk);
  EXPECT_EQ(out(),
            absl::StrCat("OK    connection  the server answers, up for 1m40s, 3 in flight\n"
                         "OK    version     server ",
                         server_.status.version(), ", sluicectl ", server_.status.version(),
                         "\n"
                         "OK    ring        1000 of 1000 events held, which on average is the last "
                         "1m06s\n"
                         "OK    watchers    1 watchers, 0 dropped since the start\n"
                         "OK    config      generation 4, etag e4\n"
                         "OK    capacity    3 of 10 in flight\n"
                         "OK    pools       1, each has endpoints\n"
                         "OK    routes      1, every model has one\n"
                         "OK    drained     no endpoint is\n"
                         "OK    failures    no endpoint fails half of its attempts\n"
                         "OK    ejected     no endpoint is\n"
                         "OK    keys        all keys of pools are usable\n"));
  EXPECT_EQ(err(), "");
}

TEST_F(DoctorTest, SaysWhatToDoAboutTheServer) {
  server_.status.set_version("0.0.9\x1b");
  EXPECT_THAT(Complaint(), StartsWith("WARN  version     server 0.0.9\\x1b, sluicectl "));
}

TEST_F(DoctorTest, SaysWhatToDoAboutAShortMemory) {
  server_.status.mutable_ring()->set_published(2000);
  EXPECT_THAT(Complaint(), HasSubstr("the last 50.00s\n                  A watcher that is cut"));
  server_.status.mutable_ring()->set_size(999);
  EXPECT_EQ(Run({"doctor"}), ExitCode::kOk) << "nothing was overwritten yet";
}

TEST_F(DoctorTest, SaysWhatToDoAboutDroppedWatchers) {
  server_.status.set_watchers_dropped(2);
  EXPECT_THAT(Complaint(), StartsWith("WARN  watchers    1 watchers, 2 dropped"));
}

TEST_F(DoctorTest, SaysThatTheServerDrains) {
  server_.status.set_draining(true);
  EXPECT_THAT(Complaint(), StartsWith("WARN  serving     the server drains"));
}

TEST_F(DoctorTest, SaysWhatToDoAboutAFullHouse) {
  server_.status.set_in_flight(9);
  EXPECT_THAT(Complaint(), HasSubstr("9 of 10 in flight\n                  More are refused"));
}

TEST_F(DoctorTest, SaysWhatToDoAboutTheConfiguration) {
  server_.config.mutable_pools(0)->clear_endpoints();
  EXPECT_THAT(Complaint(), HasSubstr("no endpoint in chat\n"));
  EXPECT_THAT(Complaint(), HasSubstr("sluicectl endpoint add chat ID URI"));

  v1::Pool* other = server_.config.add_pools();
  other->set_id("other");
  other->add_endpoints();
  server_.config.mutable_pools(0)->add_endpoints();
  EXPECT_THAT(Complaint(), HasSubstr("routes      none leads to other\n"));

  server_.config.clear_routes();
  EXPECT_THAT(Complaint(), HasSubstr("routes      none: every request gets 404\n"));

  server_.config.Clear();
  EXPECT_THAT(Complaint(), HasSubstr("none was ever applied"));
}

TEST_F(DoctorTest, SaysWhatToDoAboutDrainedAndFailingEndpoints) {
  server_.endpoints.mutable_endpoints(0)->set_state(v1::EndpointStatus::STATE_DRAINING);
  EXPECT_THAT(Complaint(), HasSubstr("drained     chat/a\n"));
  EXPECT_THAT(Complaint(), HasSubstr("sluicectl endpoint resume chat/a\n"));
  server_.endpoints.mutable_endpoints(1)->set_state(v1::EndpointStatus::STATE_DRAINING);
  EXPECT_THAT(Complaint(), HasSubstr("chat/a, chat/b; nothing is left that serves chat\n"));

  for (auto& endpoint : *server_.endpoints.mutable_endpoints()) {
    endpoint.set_state(v1::EndpointStatus::STATE_ACTIVE);
  }
  server_.endpoints.mutable_endpoints(1)->set_failed_attempts(50);
  EXPECT_THAT(Complaint(),
              HasSubstr("failures    since the start of the server: chat/b (50 of 99)\n"));
}

TEST_F(DoctorTest, SaysWhatToDoAboutEjectedEndpointsAndUnusableKeys) {
  server_.endpoints.mutable_endpoints(0)->set_state(v1::EndpointStatus::STATE_EJECTED);
  server_.endpoints.mutable_endpoints(0)->set_last_failure("connect_failed");
  EXPECT_THAT(Complaint(), HasSubstr("ejected     chat/a (connect_failed)\n"));
  server_.endpoints.mutable_endpoints(0)->set_state(v1::EndpointStatus::STATE_ACTIVE);
  v1::PoolStatus* pool = server_.endpoints.add_pools();
  pool->set_id("chat");
  pool->add_keys()->set_id("k1");
  pool->mutable_keys(0)->set_state(v1::KeyStatus::STATE_REFUSED);
  EXPECT_THAT(Complaint(), HasSubstr("keys        chat/k1 refused\n"));
}

TEST_F(DoctorTest, CountsTargetsAndFallbacksOfRoutes) {
  for (const char* id : {"other", "spare"}) {
    v1::Pool* pool = server_.config.add_pools();
    pool->set_id(id);
    pool->add_endpoints();
  }
  v1::Route* route = server_.config.add_routes();
  route->set_model("gpt-*");
  route->add_targets()->set_pool("other");
  route->add_fallbacks()->set_pool("spare");
  EXPECT_EQ(Run({"doctor"}), ExitCode::kOk) << out();
}

TEST_F(DoctorTest, GoesOnPastWhatItMayNotSee) {
  server_.endpoint_result = grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "not for viewers");
  EXPECT_THAT(Complaint(), HasSubstr("endpoints   cannot be read: not for viewers\n"));
}

TEST_F(DoctorTest, AsJsonIsACheckALine) {
  server_.status.set_version("\"");
  EXPECT_EQ(Run({"doctor", "--output", "json"}), ExitCode::kError);
  EXPECT_THAT(out(), HasSubstr("{\"check\":\"config\",\"ok\":true,\"finding\":\"generation 4, etag "
                               "e4\",\"next\":\"\"}\n"));
  EXPECT_THAT(out(), HasSubstr("{\"check\":\"version\",\"ok\":false,\"finding\":\"server \\\","));
}

class DoctorLeaksTest : public SluicectlTest {
 protected:
  /// What the server says when one of its counts is off by so much.
  static v1::CheckLeaksResponse Check(int64_t off) {
    v1::CheckLeaksResponse check = Parse<v1::CheckLeaksResponse>(R"(
      opened: 30 live: 5 closed { cause: CAUSE_COMPLETED exchanges: 20 }
      closed { cause: CAUSE_CLIENT_GONE exchanges: 5 }
      readings { name: "sockets" counted: 12 source: "/proc/self/fd" })");
    check.mutable_readings(0)->set_booked(12 + off);
    return check;
  }
  ExitCode Doctor(std::vector<v1::CheckLeaksResponse> checks) {
    server_.leaks = {checks.begin(), checks.end()};
    out_.str("");
    err_.str("");
    return Run({"doctor", "leaks", "--interval", "0s"});
  }
};

TEST_F(DoctorLeaksTest, ShowsThreeReadings) {
  EXPECT_EQ(Doctor({Check(0), Check(1), Check(0)}), ExitCode::kOk);
  EXPECT_EQ(out(),
            "BOOKED - COUNTED   BEFORE        DURING    AFTER  VERDICT   COUNTED AS\n"
            "exchanges opened  30 = 30       30 = 30  30 = 30  ok        those that live and those "
            "closed, by cause\n"
            "sockets           12 = 12  13 - 12 = +1  12 = 12  ok, busy  /proc/self/fd\n");
  EXPECT_THAT(err(), EndsWith("no leak: differences came and went, as they do while requests come "
                              "and go\n"));
  EXPECT_EQ(server_.requests().size(), 3u);
}

TEST_F(DoctorLeaksTest, FindsWhatDiffersEachTimeInOneDirection) {
  EXPECT_EQ(Doctor({Check(1), Check(2), Check(1)}), ExitCode::kError);
  EXPECT_THAT(out(), HasSubstr("13 - 12 = +1  LEAKS    /proc"));
  EXPECT_THAT(err(), HasSubstr("each time about: sockets\n"));
  EXPECT_EQ(Doctor({Check(-1), Check(-2), Check(-1)}), ExitCode::kError);
  EXPECT_EQ(Doctor({Check(1), Check(-2), Check(1)}), ExitCode::kOk);
  EXPECT_EQ(Doctor({Check(1), Check(2), Check(0)}), ExitCode::kOk);
  EXPECT_EQ(Doctor({Check(0)}), ExitCode::kOk);
  EXPECT_THAT(err(), EndsWith("sluicectl: no leak\n"));
}

TEST_F(DoctorLeaksTest, ComparesTheExchangesOpenedWithThoseAccountedFor) {
  v1::CheckLeaksResponse check = Check(0);
  check.set_live(4);
  EXPECT_EQ(Doctor({check}), ExitCode::kError);
  EXPECT_THAT(out(), HasSubstr("exchanges opened  30 - 29 = +1"));
}

TEST_F(DoctorLeaksTest, CanWaitForTheUserToRunALoad) {
  server_.leaks = {Check(0)};
  in_.str("\n\n");
  EXPECT_EQ(Run({"doctor", "leaks", "--ask", "--output", "json"}), ExitCode::kOk);
  EXPECT_THAT(err(), HasSubstr("start the load, then press Enter\n"));
  EXPECT_THAT(err(), HasSubstr("end the load, and wait until it is gone, then press Enter\n"));
  EXPECT_THAT(out(), StartsWith("{\"opened\":\"30\""));
  in_.clear();
  in_.str("\n");  // and no more
  EXPECT_EQ(Run({"doctor", "leaks", "--ask"}), ExitCode::kError);
  EXPECT_EQ(server_.requests().size(), 5u);
}

TEST_F(DoctorLeaksTest, StopsWaitingOnAnInterrupt) {
  server_.leaks = {Check(0)};
  stop_.request_stop();
  EXPECT_EQ(Run({"doctor", "leaks", "--interval", "24h"}), ExitCode::kError);
  EXPECT_EQ(Run({"doctor", "leaks", "--interval", "-1s"}), ExitCode::kUsage);
  EXPECT_THAT(err(), HasSubstr("--interval: not a time like"));
}

}  // namespace
}  // namespace sluice::admin
