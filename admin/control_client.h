#ifndef SLUICE_ADMIN_CONTROL_CLIENT_H_
#define SLUICE_ADMIN_CONTROL_CLIENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "admin/connection.h"
#include "sluice/control/v1/config.pb.h"
#include "sluice/control/v1/control_service.pb.h"
#include "sluice/control/v1/error.pb.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// The control API of one server. A failed call returns the server's
/// code and message; ErrorDetailOf gives the rest. UNAVAILABLE and DEADLINE_EXCEEDED mean that no
/// answer came. Connects with the first call. Confined to one thread.
class ControlClient {
 public:
  /// Once `stop` is requested, unary calls end as well, with CANCELLED.
  ControlClient(const Connection& connection, std::stop_token stop);
  ~ControlClient();

  absl::StatusOr<control::v1::ServerStatus> GetServerStatus();
  /// The configuration in force, or an earlier version.
  absl::StatusOr<control::v1::Config> GetConfig(std::optional<int64_t> generation = std::nullopt);
  absl::StatusOr<control::v1::ValidateConfigResponse> ValidateConfig(
      const control::v1::Config& config);
  /// What UpdateConfig would do with `update`.
  absl::StatusOr<control::v1::PlanConfigResponse> PlanConfig(
      const control::v1::UpdateConfigRequest& update);
  absl::StatusOr<control::v1::Config> UpdateConfig(const control::v1::UpdateConfigRequest& request);
  /// All versions that are kept.
  absl::StatusOr<control::v1::ListConfigVersionsResponse> ListConfigVersions();
  absl::StatusOr<control::v1::Config> RollbackConfig(int64_t generation, const std::string& etag);
  absl::StatusOr<control::v1::Config> AddEndpoint(const control::v1::AddEndpointRequest& request);
  absl::StatusOr<control::v1::Config> RemoveEndpoint(
      const control::v1::RemoveEndpointRequest& request);

  absl::StatusOr<control::v1::ListEndpointsResponse> ListEndpoints(
      const control::v1::ListEndpointsRequest& request);
  absl::StatusOr<control::v1::EndpointStatus> ResumeEndpoint(
      const control::v1::ResumeEndpointRequest& request);
  /// One page.
  absl::StatusOr<control::v1::ListExchangesResponse> ListExchanges(
      const control::v1::ListExchangesRequest& request);
  absl::StatusOr<control::v1::Exchange> GetExchange(const control::v1::GetExchangeRequest& request);
  absl::StatusOr<control::v1::Exchange> CancelExchange(
      const control::v1::CancelExchangeRequest& request);
  absl::StatusOr<control::v1::GetUsageResponse> GetUsage(
      const control::v1::GetUsageRequest& request);
  absl::StatusOr<control::v1::CheckLeaksResponse> CheckLeaks();

  /// Those that stream hand over each response until the stream ends, `on_response` returns false,
  /// or `stop` is requested (from any thread; seen at once). OK in the last two cases and when the
  /// server ended it in order.
  absl::Status WatchEvents(
      const control::v1::WatchEventsRequest& request, std::stop_token stop,
      const std::function<bool(const control::v1::WatchEventsResponse&)>& on_response);
  absl::Status TailExchange(
      const control::v1::TailExchangeRequest& request, std::stop_token stop,
      const std::function<bool(const control::v1::TailExchangeResponse&)>& on_response);
  absl::Status DrainEndpoint(
      const control::v1::DrainEndpointRequest& request, std::stop_token stop,
      const std::function<bool(const control::v1::DrainProgress&)>& on_response);
  absl::Status DrainServer(
      const control::v1::DrainServerRequest& request, std::stop_token stop,
      const std::function<bool(const control::v1::DrainProgress&)>& on_response);

 private:
  struct Stubs;
  std::unique_ptr<Stubs> stubs_;
};

/// What the server says about an error, for programs; nothing if it said nothing.
std::optional<control::v1::ErrorDetail> ErrorDetailOf(const absl::Status& error);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_CONTROL_CLIENT_H_
