#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"

#include "tests/admin/sluicectl_test.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using WatchCommandTest = SluicectlTest;

v1::WatchEventsResponse ChunkResponse(int64_t index, const std::string& token) {
  v1::WatchEventsResponse response;
  response.set_resume_token(token);
  v1::Event* event = response.add_events();
  event->set_exchange("x5f3a09c100000001");
  event->mutable_chunk()->set_index(index);
  return response;
}

/// Sends `responses`, then does `end`.
FakeControlServer::WatchScript Send(std::vector<v1::WatchEventsResponse> responses,
                                    std::function<grpc::Status()> end) {
  return [responses, end](grpc::ServerContext*, FakeControlServer::WatchWriter* writer) {
    for (const auto& response : responses) writer->Write(response);
    return end();
  };
}

TEST_F(WatchCommandTest, ResumesByTokenAfterACut) {
  server_.watches.push_back(Send({ChunkResponse(0, "t1"), ChunkResponse(1, "t2")}, [] {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "going down");
  }));
  server_.watches.push_back(Send({ChunkResponse(2, "t3")}, [this] {
    stop_.request_stop();
    return grpc::Status::OK;
  }));
  EXPECT_EQ(Run({"watch", "--tail", "5"}), ExitCode::kOk);

  const auto requests = server_.watch_requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].tail(), 5);
  EXPECT_TRUE(requests[0].follow());
  EXPECT_EQ(requests[0].resume_token(), "");
  EXPECT_EQ(requests[1].tail(), 0);
  EXPECT_EQ(requests[1].resume_token(), "t2");
  for (const char* frame : {"frame=0", "frame=1"}) EXPECT_THAT(out(), HasSubstr(frame));
  EXPECT_THAT(err(), HasSubstr("cut off (going down); trying again"));
}

TEST_F(WatchCommandTest, AsksForWhatItsFlagsSay) {
  EXPECT_EQ(
      Run({"watch", "--model", "a, b", "--pool=chat", "--endpoint", "chat/a,pools/chat/endpoints/b",
           "--principal", "p", "--kind", "started,attempt_failed,key_state", "--cause=client_gone",
           "--exchange", "x5f3a09c100000001", "--since", "90s"}),
      ExitCode::kUnreachable);
  ASSERT_EQ(server_.watch_requests().size(), 1u);
  v1::WatchEventsRequest expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(follow: true since { seconds: 1767322955 } filters {
           models: "a" models: "b" pools: "chat" principals: "p" exchanges: "x5f3a09c100000001"
           endpoints: "pools/chat/endpoints/a" endpoints: "pools/chat/endpoints/b"
           kinds: EVENT_KIND_EXCHANGE_STARTED kinds: EVENT_KIND_ATTEMPT_FAILED
           kinds: EVENT_KIND_KEY_STATE_CHANGED causes: CAUSE_CLIENT_GONE })",
      &expected));
  EXPECT_EQ(server_.watch_requests()[0].DebugString(), expected.DebugString());
}

TEST_F(WatchCommandTest, AsksForNoFilterWithoutFlags) {
  EXPECT_EQ(Run({"watch", "--since", "2026-01-02T03:04:05.25Z"}), ExitCode::kUnreachable);
  ASSERT_EQ(server_.watch_requests().size(), 1u);
  EXPECT_EQ(server_.watch_requests()[0].filters_size(), 0);
  EXPECT_EQ(server_.watch_requests()[0].since().seconds(), 1767323045);
  EXPECT_EQ(server_.watch_requests()[0].since().nanos(), 250'000'000);
}

TEST_F(WatchCommandTest, RefusesFlagsThatMeanNothing) {
  const struct {
    std::vector<std::string> flags;
    const char* words;
  } kRows[] = {
      {{"--kind", "started,fished"}, "--kind: not one of started, attempt, attempt_failed, "},
      {{"--cause", "gone"}, "--cause: not one of completed, client_gone, "},
      {{"--cause", "unspecified"}, "--cause: not one of "},
      {{"--since", "soon"}, "--since: neither a time like "},
      {{"--since", "-5m"}, "--since: neither"},
      {{"--since", "inf"}, "--since: neither"},
      {{"--since", "infinite-future"}, "--since: neither"},
      {{"--since", "1969-12-31T23:59:59Z"}, "--since: neither"},
      {{"--since", "5m", "--tail", "3"}, "--since: cannot be used with --tail"},
      {{"--tail", "many"}, "--tail: not a number from 0 to 1000000"}};
  for (const auto& row : kRows) {
    err_.str("");
    std::vector<std::string> args = {"watch"};
    args.insert(args.end(), row.flags.begin(), row.flags.end());
    EXPECT_EQ(Run(args), ExitCode::kUsage) << row.words;
    EXPECT_THAT(err(), HasSubstr(row.words));
    EXPECT_THAT(err(), HasSubstr("See `sluicectl help watch`."));
  }
  EXPECT_EQ(server_.watch_requests().size(), 0u);
}

TEST_F(WatchCommandTest, EndsWithTheServerIfItIsNotToFollow) {
  server_.watches.push_back(Send({ChunkResponse(0, "t1")}, [] { return grpc::Status::OK; }));
  EXPECT_EQ(Run({"watch", "--no-follow", "--tail", "1"}), ExitCode::kOk);
  ASSERT_EQ(server_.watch_requests().size(), 1u);
  EXPECT_FALSE(server_.watch_requests()[0].follow());
  EXPECT_EQ(err(), "");
}

class ResumeFileTest : public SluicectlTest {
 protected:
  ResumeFileTest() { std::remove(path_.c_str()); }
  ~ResumeFileTest() override { std::remove(path_.c_str()); }

  std::string Content() const {
    std::ifstream file(path_);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void Put(const std::string& content) const { std::ofstream(path_) << content; }
  ExitCode Watch(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"watch", "--no-follow", "--resume-file", path_});
    return Run(flags);
  }
  void Serve(std::vector<v1::WatchEventsResponse> responses) {
    server_.watches.push_back(Send(std::move(responses), [] { return grpc::Status::OK; }));
  }

  const std::string path_ = absl::StrCat(::testing::TempDir(), "sluicectl-token-", ::getpid());
};

TEST_F(ResumeFileTest, MakesTheNextWatchGoOnWhereThisOneEnded) {
  Serve({ChunkResponse(0, "t1"), ChunkResponse(1, "t2")});
  EXPECT_EQ(Watch({"--tail", "5"}), ExitCode::kOk) << err();
  EXPECT_EQ(Content(), "t2\n");
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--tail", "5"}, {"--since", "5m"}}) {
    Serve({ChunkResponse(2, "t3")});
    Put("t2\n");
    EXPECT_EQ(Watch(flags), ExitCode::kOk) << err();
    EXPECT_EQ(Content(), "t3\n");
  }
  const auto requests = server_.watch_requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].tail(), 5);
  EXPECT_EQ(requests[0].resume_token(), "");
  for (int i : {1, 2}) {
    EXPECT_EQ(requests[i].resume_token(), "t2");
    EXPECT_EQ(requests[i].tail(), 0);
    EXPECT_FALSE(requests[i].has_since());
  }
}

/// Remembers what a file held each time it was flushed.
class FlushSpy final : public std::stringbuf {
 public:
  explicit FlushSpy(std::function<std::string()> look) : look_(std::move(look)) {}
  std::vector<std::pair<std::string, std::string>> flushes;  // all output so far, the file

 private:
  int sync() override {
    flushes.emplace_back(str(), look_());
    return 0;
  }
  std::function<std::string()> look_;
};

TEST_F(ResumeFileTest, IsWrittenOnlyAfterTheEventsAre) {
  FlushSpy spy([this] { return Content(); });
  std::streambuf* const before = out_.std::ios::rdbuf(&spy);
  Serve({ChunkResponse(7, "t1"), ChunkResponse(8, "t2")});
  EXPECT_EQ(Watch(), ExitCode::kOk);
  out_.std::ios::rdbuf(before);
  ASSERT_EQ(spy.flushes.size(), 2u);
  EXPECT_THAT(spy.flushes[0].first, HasSubstr("frame=7"));
  EXPECT_EQ(spy.flushes[0].second, "");
  EXPECT_THAT(spy.flushes[1].first, HasSubstr("frame=8"));
  EXPECT_EQ(spy.flushes[1].second, "t1\n");
}

TEST_F(ResumeFileTest, IsNotWrittenForEventsThatNobodyTook) {
  Put("t0\n");
  server_.watches.push_back(
      [this](grpc::ServerContext* context, FakeControlServer::WatchWriter* writer) {
        out_.setstate(std::ios::badbit);
        while (writer->Write(ChunkResponse(0, "t"))) {
        }
        return context->IsCancelled() ? grpc::Status::CANCELLED : grpc::Status::OK;
      });
  EXPECT_EQ(Watch(), ExitCode::kOk);
  EXPECT_EQ(Content(), "t0\n");
}

TEST_F(ResumeFileTest, IsLeftAloneIfItHoldsSomethingElse) {
  for (const std::string& content :
       {std::string(), std::string("two words"), std::string(300, 'x')}) {
    Put(content);
    err_.str("");
    EXPECT_EQ(Watch(), ExitCode::kError);
    EXPECT_THAT(err(), HasSubstr("holds no resume token; remove it to begin anew"));
    EXPECT_EQ(Content(), content);
  }
  EXPECT_EQ(server_.watch_requests().size(), 0u);
}

TEST_F(ResumeFileTest, EndsTheWatchIfItCannotBeWritten) {
  server_.watches.push_back(
      [](grpc::ServerContext* context, FakeControlServer::WatchWriter* writer) {
        writer->Write(ChunkResponse(0, "t1"));
        while (!context->IsCancelled()) std::this_thread::yield();
        return grpc::Status::CANCELLED;
      });
  EXPECT_EQ(Run({"watch", "--resume-file", "/nowhere/token"}), ExitCode::kError);
  EXPECT_THAT(err(), HasSubstr("--resume-file: cannot write /nowhere/token"));
}

TEST_F(WatchCommandTest, StatesLossInBand) {
  v1::WatchEventsResponse response = ChunkResponse(9, "t");
  response.mutable_lost()->set_count(12);
  response.mutable_lost()->set_reason(v1::Lost::REASON_OVERRUN);
  for (const char* format : {"text", "json"}) {
    server_.watches.push_back(
        Send({response}, [] { return grpc::Status(grpc::StatusCode::INTERNAL, "enough"); }));
    out_.str("");
    EXPECT_EQ(Run({"watch", "--output", format}), ExitCode::kError);
    if (std::string(format) == "text") {
      EXPECT_THAT(out(), StartsWith("-- lost: 12 events"));
    } else {
      EXPECT_THAT(
          out(),
          StartsWith(
              "{\"lost\":{\"count\":\"12\",\"reason\":\"REASON_OVERRUN\"}}\n{\"sequence\":"));
    }
  }
}

TEST_F(WatchCommandTest, GivesUpIfTheServerWasNeverThere) {
  EXPECT_EQ(Run({"watch"}), ExitCode::kUnreachable);
  EXPECT_EQ(server_.watch_requests().size(), 1u);
}

TEST_F(WatchCommandTest, DoesNotRetryWhatTryingAgainCannotHelp) {
  server_.watches.push_back(Send({ChunkResponse(0, "t")}, [] {
    return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "no viewer any more");
  }));
  EXPECT_EQ(Run({"watch"}), ExitCode::kError);
  EXPECT_THAT(err(), HasSubstr("no viewer any more"));
  EXPECT_EQ(server_.watch_requests().size(), 1u);
}

TEST_F(WatchCommandTest, GoesOnAfterTheServerEndedItForReadingTooSlowly) {
  server_.watches.push_back(Send({ChunkResponse(0, "t1")}, [] { return grpc::Status::CANCELLED; }));
  server_.watches.push_back(Send({}, [] {
    return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "the old one has its place still");
  }));
  server_.watches.push_back(Send({ChunkResponse(1, "t2")}, [this] {
    stop_.request_stop();
    return grpc::Status::OK;
  }));
  EXPECT_EQ(Run({"watch"}), ExitCode::kOk);
  ASSERT_EQ(server_.watch_requests().size(), 3u);
  EXPECT_EQ(server_.watch_requests()[2].resume_token(), "t1");
}

TEST_F(WatchCommandTest, EndsAtOnceWhenStoppedInSilence) {
  server_.watches.push_back(
      [this](grpc::ServerContext* context, FakeControlServer::WatchWriter* writer) {
        writer->Write(v1::WatchEventsResponse());
        stop_.request_stop();
        while (!context->IsCancelled()) std::this_thread::yield();
        return grpc::Status::CANCELLED;
      });
  EXPECT_EQ(Run({"watch"}), ExitCode::kOk);
  EXPECT_EQ(err(), "");
}

TEST_F(WatchCommandTest, EndsWhenNobodyReadsItsOutput) {
  server_.watches.push_back(
      [this](grpc::ServerContext* context, FakeControlServer::WatchWriter* writer) {
        out_.setstate(std::ios::badbit);
        while (writer->Write(ChunkResponse(0, "t"))) {
        }
        return context->IsCancelled() ? grpc::Status::CANCELLED : grpc::Status::OK;
      });
  EXPECT_EQ(Run({"watch"}), ExitCode::kOk);
}

}  // namespace
}  // namespace sluice::admin
