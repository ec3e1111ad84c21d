// What the daemon holds, in its own books and in the system's: before, during and after a crowd of
// streams.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/integration/daemon.h"
#include "tests/support/chat_events.h"
#include "tests/support/eventually.h"
#include "tests/support/fd_limit.h"
#include "tests/support/raw_client.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

namespace pb = ::sluice::control::v1;

constexpr int kStreams = 1000;

class LeakTest : public ::testing::Test {
 protected:
  LeakTest() {
    RaiseFdLimit();
    engine_->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  }

  pb::CheckLeaksResponse Check() {
    grpc::ClientContext context;
    pb::CheckLeaksResponse books;
    EXPECT_TRUE(observer_->CheckLeaks(&context, {}, &books).ok());
    return books;
  }

  static int64_t Closed(const pb::CheckLeaksResponse& books) {
    int64_t all = 0;
    for (const auto& closed : books.closed()) all += closed.exchanges();
    return all;
  }

  static std::map<std::string, int64_t> Booked(const pb::CheckLeaksResponse& books) {
    std::map<std::string, int64_t> booked;
    for (const auto& reading : books.readings()) booked[reading.name()] = reading.booked();
    return booked;
  }

  /// The books once both counts of everything agree, and `live` exchanges run.
  pb::CheckLeaksResponse WaitForBalance(int64_t live) {
    pb::CheckLeaksResponse books;
    EXPECT_TRUE(Eventually([&] {
      books = Check();
      bool balanced = books.live() == live && books.opened() == books.live() + Closed(books);
      for (const auto& reading : books.readings())
        balanced &= reading.booked() == reading.counted();
      return balanced;
    })) << books.DebugString();
    return books;
  }

  std::vector<RawClient> OpenStreams() {
    std::vector<RawClient> clients;
    for (int i = 0; i < kStreams; ++i) {
      clients.push_back(*RawClient::Connect(daemon_.port()));
      EXPECT_TRUE(clients.back().Send(ChatRequest()).ok());
    }
    for (RawClient& client : clients) EXPECT_TRUE(client.ReadHead().ok());
    return clients;
  }

  void CancelOneHalf() {
    pb::ListExchangesRequest request;
    request.set_page_size(kStreams / 2);
    request.set_selection(pb::ListExchangesRequest::SELECTION_LIVE);
    pb::ListExchangesResponse running;
    grpc::ClientContext context;
    ASSERT_TRUE(observer_->ListExchanges(&context, request, &running).ok());
    for (const pb::Exchange& exchange : running.exchanges()) {
      grpc::ClientContext cancel_context;
      pb::CancelExchangeRequest cancel;
      cancel.set_id(exchange.id());
      pb::Exchange was;
      EXPECT_TRUE(control_->CancelExchange(&cancel_context, cancel, &was).ok());
    }
  }

  std::unique_ptr<ScriptedEngine> engine_ = *ScriptedEngine::Start();
  const TempFile config_{ConfigFor(engine_->uri())};
  Daemon daemon_{{absl::StrCat("--config=", config_.path())}};
  const std::shared_ptr<grpc::Channel> channel_ = grpc::CreateChannel(
      absl::StrCat("127.0.0.1:", daemon_.control_port()), grpc::InsecureChannelCredentials());
  const std::unique_ptr<pb::ObserverService::Stub> observer_ =
      pb::ObserverService::NewStub(channel_);
  const std::unique_ptr<pb::ControlService::Stub> control_ = pb::ControlService::NewStub(channel_);
};

TEST_F(LeakTest, HoldsNothingOfStreamsThatWereCancelledOrLeft) {
  const std::map<std::string, int64_t> before = Booked(WaitForBalance(0));
  EXPECT_EQ(before.at("sockets"), 2) << "two listeners";
  {
    std::vector<RawClient> clients = OpenStreams();
    const std::map<std::string, int64_t> during = Booked(WaitForBalance(kStreams));
    EXPECT_EQ(during.at("sockets"), before.at("sockets") + 2 * kStreams);
    EXPECT_EQ(during.at("fibers"), before.at("fibers") + kStreams);
    EXPECT_EQ(during.at("endpoint leases"), kStreams);
    EXPECT_EQ(during.at("upstream connections"), kStreams);
    CancelOneHalf();
  }
  EXPECT_TRUE(Eventually([&] { return Booked(Check()) == before; })) << Check().DebugString();
  const pb::CheckLeaksResponse after = WaitForBalance(0);
  std::map<pb::Cause, int64_t> closed;
  for (const auto& cause : after.closed()) closed[cause.cause()] = cause.exchanges();
  EXPECT_EQ(closed[pb::CAUSE_CANCELLED_BY_OPERATOR], kStreams / 2);
  EXPECT_EQ(closed[pb::CAUSE_CLIENT_GONE], kStreams / 2);
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
}

}  // namespace
}  // namespace sluice::testing
