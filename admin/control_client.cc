#include "admin/control_client.h"

#include <chrono>
#include <grpcpp/grpcpp.h>
#include <utility>

#include "absl/strings/cord.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

constexpr auto kCallDeadline = std::chrono::seconds(10);
// A watch is silent for 10 s at most (the server's heartbeat), so this only finds dead peers.
constexpr int kKeepaliveMs = 20'000;
constexpr char kDetailUrl[] = "type.googleapis.com/sluice.control.v1.ErrorDetail";

std::shared_ptr<grpc::Channel> MakeChannel(absl::string_view server) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2'000);
  arguments.SetMaxReceiveMessageSize(
      -1);  // a configuration of thousands of pools is over the default
  return grpc::CreateCustomChannel(std::string(server), grpc::InsecureChannelCredentials(),
                                   arguments);
}

absl::Status ToStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  v1::StatusDetails details;
  v1::ErrorDetail detail;
  if (details.ParseFromString(status.error_details()) && details.details_size() > 0 &&
      details.details(0).UnpackTo(&detail)) {
    result.SetPayload(kDetailUrl, absl::Cord(detail.SerializeAsString()));
  }
  return result;
}

}  // namespace

struct ControlClient::Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : control(v1::ControlService::NewStub(channel)),
        observer(v1::ObserverService::NewStub(channel)) {}

  std::unique_ptr<v1::ControlService::Stub> control;
  std::unique_ptr<v1::ObserverService::Stub> observer;
};

namespace {

template <typename Response, typename Stub, typename Request>
absl::StatusOr<Response> Call(Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                           Response*),
                              const Request& request) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
  Response response;
  const absl::Status status = ToStatus((stub.*method)(&context, request, &response));
  if (!status.ok()) return status;
  return response;
}

}  // namespace

ControlClient::ControlClient(absl::string_view server)
    : stubs_(std::make_unique<Stubs>(MakeChannel(server))) {}

ControlClient::~ControlClient() = default;

absl::StatusOr<v1::ServerStatus> ControlClient::GetServerStatus() {
  return Call(*stubs_->observer, &v1::ObserverService::Stub::GetServerStatus,
              v1::GetServerStatusRequest());
}

absl::StatusOr<v1::Config> ControlClient::GetConfig() {
  return Call(*stubs_->control, &v1::ControlService::Stub::GetConfig, v1::GetConfigRequest());
}

absl::StatusOr<v1::Config> ControlClient::UpdateConfig(const v1::UpdateConfigRequest& request) {
  return Call(*stubs_->control, &v1::ControlService::Stub::UpdateConfig, request);
}

absl::Status ControlClient::WatchEvents(
    const v1::WatchEventsRequest& request, std::stop_token stop,
    const std::function<bool(const v1::WatchEventsResponse&)>& on_response) {
  grpc::ClientContext context;
  const auto reader = stubs_->observer->WatchEvents(&context, request);
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  v1::WatchEventsResponse response;
  bool wanted = true;
  while (wanted && reader->Read(&response)) wanted = on_response(response);
  if (!wanted) context.TryCancel();
  const grpc::Status status = reader->Finish();
  if (!wanted || stop.stop_requested()) return absl::OkStatus();
  return ToStatus(status);
}

std::optional<v1::ErrorDetail> ErrorDetailOf(const absl::Status& error) {
  const auto payload = error.GetPayload(kDetailUrl);
  v1::ErrorDetail detail;
  if (!payload || !detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

}  // namespace sluice::admin
