#include "admin/control_client.h"

#include <chrono>
#include <grpcpp/grpcpp.h>
#include <utility>

#include "absl/strings/cord.h"

#include "admin/channel.h"
#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

constexpr auto kCallDeadline = std::chrono::seconds(10);
constexpr char kDetailUrl[] = "type.googleapis.com/sluice.control.v1.ErrorDetail";

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
  Stubs(const std::shared_ptr<grpc::Channel>& channel, std::stop_token stop_token)
      : stop(std::move(stop_token)),
        control(v1::ControlService::NewStub(channel)),
        observer(v1::ObserverService::NewStub(channel)) {}

  const std::stop_token stop;
  std::unique_ptr<v1::ControlService::Stub> control;
  std::unique_ptr<v1::ObserverService::Stub> observer;
};

namespace {

template <typename Response, typename Stub, typename Request>
absl::StatusOr<Response> Call(const std::stop_token& stop, Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                           Response*),
                              const Request& request) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  Response response;
  const absl::Status status = ToStatus((stub.*method)(&context, request, &response));
  if (absl::IsCancelled(status) && stop.stop_requested()) {
    return absl::CancelledError(
        "interrupted; what had reached the server may be done all the same");
  }
  if (!status.ok()) return status;
  return response;
}

template <typename Response, typename Stub, typename Request>
absl::Status Stream(Stub& stub,
                    std::unique_ptr<grpc::ClientReader<Response>> (Stub::*method)(
                        grpc::ClientContext*, const Request&),
                    const Request& request, std::stop_token stop,
                    const std::function<bool(const Response&)>& on_response) {
  grpc::ClientContext context;
  const auto reader = (stub.*method)(&context, request);
  const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
  Response response;
  bool wanted = true;
  while (wanted && reader->Read(&response)) wanted = on_response(response);
  if (!wanted) context.TryCancel();
  const grpc::Status status = reader->Finish();
  if (!wanted || stop.stop_requested()) return absl::OkStatus();
  return ToStatus(status);
}

}  // namespace

ControlClient::ControlClient(const Connection& connection, std::stop_token stop)
    : stubs_(std::make_unique<Stubs>(OpenChannel(connection), std::move(stop))) {}

ControlClient::~ControlClient() = default;

absl::StatusOr<v1::ServerStatus> ControlClient::GetServerStatus() {
  return Call(stubs_->stop, *stubs_->observer, &v1::ObserverService::Stub::GetServerStatus,
              v1::GetServerStatusRequest());
}

absl::StatusOr<v1::Config> ControlClient::GetConfig(std::optional<int64_t> generation) {
  v1::GetConfigRequest request;
  if (generation) request.set_generation(*generation);
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::GetConfig, request);
}

absl::StatusOr<v1::ValidateConfigResponse> ControlClient::ValidateConfig(const v1::Config& config) {
  v1::ValidateConfigRequest request;
  *request.mutable_config() = config;
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::ValidateConfig, request);
}

absl::StatusOr<v1::PlanConfigResponse> ControlClient::PlanConfig(
    const v1::UpdateConfigRequest& update) {
  v1::PlanConfigRequest request;
  *request.mutable_config() = update.config();
  *request.mutable_update_mask() = update.update_mask();
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::PlanConfig, request);
}

absl::StatusOr<v1::Config> ControlClient::UpdateConfig(const v1::UpdateConfigRequest& request) {
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::UpdateConfig, request);
}

absl::StatusOr<v1::ListConfigVersionsResponse> ControlClient::ListConfigVersions() {
  v1::ListConfigVersionsRequest request;
  request.set_page_size(1000);  // the most there can be; the server keeps fewer versions
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::ListConfigVersions,
              request);
}

absl::StatusOr<v1::Config> ControlClient::RollbackConfig(int64_t generation,
                                                         const std::string& etag) {
  v1::RollbackConfigRequest request;
  request.set_generation(generation);
  request.set_etag(etag);
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::RollbackConfig, request);
}

absl::StatusOr<v1::Config> ControlClient::AddEndpoint(const v1::AddEndpointRequest& request) {
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::AddEndpoint, request);
}

absl::StatusOr<v1::Config> ControlClient::RemoveEndpoint(const v1::RemoveEndpointRequest& request) {
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::RemoveEndpoint, request);
}

absl::StatusOr<v1::ListEndpointsResponse> ControlClient::ListEndpoints(
    const v1::ListEndpointsRequest& request) {
  return Call(stubs_->stop, *stubs_->observer, &v1::ObserverService::Stub::ListEndpoints, request);
}

absl::StatusOr<v1::EndpointStatus> ControlClient::ResumeEndpoint(
    const v1::ResumeEndpointRequest& request) {
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::ResumeEndpoint, request);
}

absl::StatusOr<v1::ListExchangesResponse> ControlClient::ListExchanges(
    const v1::ListExchangesRequest& request) {
  return Call(stubs_->stop, *stubs_->observer, &v1::ObserverService::Stub::ListExchanges, request);
}

absl::StatusOr<v1::Exchange> ControlClient::GetExchange(const v1::GetExchangeRequest& request) {
  return Call(stubs_->stop, *stubs_->observer, &v1::ObserverService::Stub::GetExchange, request);
}

absl::StatusOr<v1::Exchange> ControlClient::CancelExchange(
    const v1::CancelExchangeRequest& request) {
  return Call(stubs_->stop, *stubs_->control, &v1::ControlService::Stub::CancelExchange, request);
}

absl::StatusOr<v1::GetUsageResponse> ControlClient::GetUsage(const v1::GetUsageRequest& request) {
  return Call(stubs_->stop, *stubs_->observer, &v1::ObserverService::Stub::GetUsage, request);
}

absl::StatusOr<v1::CheckLeaksResponse> ControlClient::CheckLeaks() {
  return Call(stubs_->stop, *stubs_->observer, &v1::ObserverService::Stub::CheckLeaks,
              v1::CheckLeaksRequest());
}

absl::Status ControlClient::WatchEvents(
    const v1::WatchEventsRequest& request, std::stop_token stop,
    const std::function<bool(const v1::WatchEventsResponse&)>& on_response) {
  return Stream(*stubs_->observer, &v1::ObserverService::Stub::WatchEvents, request, stop,
                on_response);
}

absl::Status ControlClient::TailExchange(
    const v1::TailExchangeRequest& request, std::stop_token stop,
    const std::function<bool(const v1::TailExchangeResponse&)>& on_response) {
  return Stream(*stubs_->observer, &v1::ObserverService::Stub::TailExchange, request, stop,
                on_response);
}

absl::Status ControlClient::DrainEndpoint(
    const v1::DrainEndpointRequest& request, std::stop_token stop,
    const std::function<bool(const v1::DrainProgress&)>& on_response) {
  return Stream(*stubs_->control, &v1::ControlService::Stub::DrainEndpoint, request, stop,
                on_response);
}

absl::Status ControlClient::DrainServer(
    const v1::DrainServerRequest& request, std::stop_token stop,
    const std::function<bool(const v1::DrainProgress&)>& on_response) {
  return Stream(*stubs_->control, &v1::ControlService::Stub::DrainServer, request, stop,
                on_response);
}

std::optional<v1::ErrorDetail> ErrorDetailOf(const absl::Status& error) {
  const auto payload = error.GetPayload(kDetailUrl);
  v1::ErrorDetail detail;
  if (!payload || !detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

}  // namespace sluice::admin
