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

#include "sluice/control/v1/config.pb.h"
#include "sluice/control/v1/control_service.pb.h"
#include "sluice/control/v1/error.pb.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// The control API of one server, and the only gRPC user here. A failed call returns the server's
/// code and message; ErrorDetailOf gives the rest. UNAVAILABLE and DEADLINE_EXCEEDED mean that no
/// answer came. Connects with the first call. Confined to one thread.
class ControlClient {
 public:
  /// `server` is HOST:PORT or unix:PATH.
  explicit ControlClient(absl::string_view server);
  ~ControlClient();

  absl::StatusOr<control::v1::ServerStatus> GetServerStatus();
  absl::StatusOr<control::v1::Config> GetConfig();
  absl::StatusOr<control::v1::Config> UpdateConfig(const control::v1::UpdateConfigRequest& request);

  /// Hands over each response until the stream ends, `on_response` returns false, or `stop` is
  /// requested (from any thread; seen at once). OK in the last two cases and when the server ended
  /// it in order.
  absl::Status WatchEvents(
      const control::v1::WatchEventsRequest& request, std::stop_token stop,
      const std::function<bool(const control::v1::WatchEventsResponse&)>& on_response);

 private:
  struct Stubs;
  std::unique_ptr<Stubs> stubs_;
};

/// What the server says about an error, for programs; nothing if it said nothing.
std::optional<control::v1::ErrorDetail> ErrorDetailOf(const absl::Status& error);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_CONTROL_CLIENT_H_
