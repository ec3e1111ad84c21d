#ifndef SLUICE_TESTS_INTEGRATION_STEER_FIXTURE_H_
#define SLUICE_TESTS_INTEGRATION_STEER_FIXTURE_H_

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/integration/gateway_fixture.h"
#include "tests/support/chat_events.h"

namespace sluice::testing {

namespace pb = ::sluice::control::v1;

inline constexpr char kEndpointA[] = "pools/chat/endpoints/a";

/// A gateway and an operator, who has a real channel to it.
class SteerTest : public GatewayFixture {
 protected:
  void StartAll() {
    StartBoth();
    StartStubs();
  }

  void StartStubs() {
    channel_ = grpc::CreateChannel(absl::StrCat("127.0.0.1:", gateway_->control_port()),
                                   grpc::InsecureChannelCredentials());
    control_ = pb::ControlService::NewStub(channel_);
    observer_ = pb::ObserverService::NewStub(channel_);
  }

  pb::ListExchangesResponse List(pb::ListExchangesRequest request = {}) {
    grpc::ClientContext context;
    pb::ListExchangesResponse response;
    const grpc::Status status = observer_->ListExchanges(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  /// The one exchange that runs, once it is at `phase`.
  pb::Exchange WaitForRunning(pb::Phase phase) {
    pb::Exchange found;
    EXPECT_TRUE(Eventually([&] {
      pb::ListExchangesRequest request;
      request.set_selection(pb::ListExchangesRequest::SELECTION_LIVE);
      const pb::ListExchangesResponse running = List(request);
      if (running.exchanges_size() != 1 || running.exchanges(0).phase() != phase) return false;
      found = running.exchanges(0);
      return true;
    }));
    return found;
  }

  pb::Exchange Get(const std::string& id) {
    grpc::ClientContext context;
    pb::GetExchangeRequest request;
    request.set_id(id);
    pb::Exchange exchange;
    const grpc::Status status = observer_->GetExchange(&context, request, &exchange);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return exchange;
  }

  grpc::Status Cancel(const std::string& id, const std::string& reason = "") {
    grpc::ClientContext context;
    pb::CancelExchangeRequest request;
    request.set_id(id);
    request.set_reason(reason);
    pb::Exchange was;
    return control_->CancelExchange(&context, request, &was);
  }

  /// A client with a running stream, which has had its first event.
  RawClient StreamingClient() {
    RawClient client = Connect();
    EXPECT_TRUE(client.Send(ChatRequest()).ok());
    EXPECT_TRUE(client.ReadHead().ok());
    EXPECT_EQ(client.ReadChunk().value_or(""), ContentEvent("a"));
    return client;
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<pb::ControlService::Stub> control_;
  std::unique_ptr<pb::ObserverService::Stub> observer_;
};

/// A stream that waits after its first event until the gate "more" is opened.
inline const Script& OneEventThenGate() {
  static const Script script = Script()
                                   .SseHead()
                                   .Chunk(ContentEvent("a"))
                                   .Gate("more")
                                   .Chunk(UsageEvent(5, 2))
                                   .Chunk(kDoneEvent)
                                   .LastChunk();
  return script;
}

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_STEER_FIXTURE_H_
