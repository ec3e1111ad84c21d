#ifndef SLUICE_TESTS_INTEGRATION_POOLS_FIXTURE_H_
#define SLUICE_TESTS_INTEGRATION_POOLS_FIXTURE_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"
#include "tests/integration/case_test.h"
#include "tests/support/chat_events.h"
#include "tests/support/patience.h"

namespace sluice::testing {

namespace pb = ::sluice::control::v1;

inline std::string GoodBody() { return absl::StrCat(ContentEvent("a"), FinishEvent(), kDoneEvent); }
inline Script GoodStream() { return Script().SseHead().Chunk(GoodBody()).LastChunk(); }

/// Hears of changes of endpoints from its construction on.
class EndpointWatch {
 public:
  explicit EndpointWatch(pb::ObserverService::Stub& observer) {
    context_.set_deadline(std::chrono::system_clock::now() + kPatience);
    pb::WatchEventsRequest request;
    request.set_follow(true);
    request.add_filters()->add_kinds(pb::EVENT_KIND_ENDPOINT_STATE_CHANGED);
    stream_ = observer.WatchEvents(&context_, request);
    Read();  // the first response comes at once
  }
  ~EndpointWatch() { context_.TryCancel(); }

  /// The next change: "pools/chat/endpoints/a STATE_EJECTED: 2 attempts failed in a row".
  std::string Next() {
    while (events_.empty()) {
      if (!Read()) return "none";
    }
    const pb::Event event = events_.front();
    events_.pop_front();
    const pb::EndpointStateChanged& change = event.endpoint_state_changed();
    return absl::StrCat(event.endpoint(), " ", pb::EndpointStatus::State_Name(change.state()), ": ",
                        change.detail());
  }

 private:
  bool Read() {
    pb::WatchEventsResponse response;
    if (!stream_->Read(&response)) return false;
    events_.insert(events_.end(), response.events().begin(), response.events().end());
    return true;
  }

  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<pb::WatchEventsResponse>> stream_;
  std::deque<pb::Event> events_;
};

/// A gateway whole, with an operator.
class PoolsTest : public CaseTest {
 protected:
  // The stubs are for the first gateway of a test, and for any thread.
  pb::ObserverService::Stub& observer() {
    MakeStubs();
    return *observer_;
  }
  pb::ControlService::Stub& control() {
    MakeStubs();
    return *control_;
  }

  pb::ListExchangesResponse ListLive() {
    pb::ListExchangesRequest request;
    request.set_selection(pb::ListExchangesRequest::SELECTION_LIVE);
    request.set_page_size(1000);
    grpc::ClientContext context;
    pb::ListExchangesResponse response;
    const grpc::Status status = observer().ListExchanges(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  /// Waits until exactly so many exchanges are at `phase`.
  bool WaitForPhase(pb::Phase phase, int64_t exchanges) {
    return Eventually([&] {
      const pb::ListExchangesResponse live = ListLive();
      return exchanges == std::count_if(live.exchanges().begin(), live.exchanges().end(),
                                        [phase](const pb::Exchange& exchange) {
                                          return exchange.phase() == phase;
                                        });
    });
  }

  /// The attempts that run at `endpoint` ("a") of the pool "chat".
  int64_t InFlightAt(absl::string_view endpoint) {
    grpc::ClientContext context;
    pb::ListEndpointsResponse response;
    const grpc::Status status = observer().ListEndpoints(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    for (const pb::EndpointStatus& found : response.endpoints()) {
      if (found.name() == Name(endpoint)) return found.in_flight();
    }
    ADD_FAILURE() << "no endpoint " << endpoint << ": " << response.DebugString();
    return -1;
  }

  static std::string Name(absl::string_view endpoint) {
    return absl::StrCat("pools/chat/endpoints/", endpoint);
  }

  /// A client whose request has been sent on a connection of its own.
  RawClient Ask(const std::string& request = ChatRequest()) {
    RawClient client = Connect();
    EXPECT_TRUE(client.Send(request).ok());
    return client;
  }
  /// The same, with the head of its answer read.
  RawClient AskAndReadHead(std::string* head = nullptr,
                           const std::string& request = ChatRequest()) {
    RawClient client = Ask(request);
    absl::StatusOr<std::string> read = client.ReadHead();
    EXPECT_TRUE(read.ok()) << read.status();
    if (head != nullptr) *head = read.value_or("");
    return client;
  }

 private:
  void MakeStubs() {
    std::call_once(stubs_made_, [this] {
      const auto channel = grpc::CreateChannel(absl::StrCat("127.0.0.1:", gateway_->control_port()),
                                               grpc::InsecureChannelCredentials());
      observer_ = pb::ObserverService::NewStub(channel);
      control_ = pb::ControlService::NewStub(channel);
    });
  }

  std::once_flag stubs_made_;
  std::unique_ptr<pb::ObserverService::Stub> observer_;
  std::unique_ptr<pb::ControlService::Stub> control_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_POOLS_FIXTURE_H_
