#ifndef SLUICE_ADMIN_TOP_FEED_H_
#define SLUICE_ADMIN_TOP_FEED_H_

#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "admin/control_client.h"
#include "admin/top_model.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace sluice::admin {

/// One look at the server, in three calls. `selection` is of exchanges that run.
absl::StatusOr<TopSample> TakeSample(ControlClient& client, const Clock& clock,
                                     const control::v1::ListExchangesRequest& selection);

/// Looks at the server again and again, on a thread of its own, so that a slow answer never keeps
/// the user from typing. Thread-safe.
class TopFeed {
 public:
  /// A sample, why there is none, or what became of a Cancel.
  using News = std::variant<TopSample, absl::Status, std::string>;

  /// For its life, nobody else may use `client`.
  TopFeed(ControlClient& client, const Clock& clock, control::v1::ListExchangesRequest selection,
          absl::Duration interval);
  /// Waits for the call that runs, which has a deadline.
  ~TopFeed();

  /// What is new since the last call.
  std::deque<News> Take();
  /// Cancels an exchange soon.
  void Cancel(control::v1::CancelExchangeRequest request);

 private:
  void Run();
  std::string Cancelled(const control::v1::CancelExchangeRequest& request);

  ControlClient& client_;
  const Clock& clock_;
  const control::v1::ListExchangesRequest selection_;
  const absl::Duration interval_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<News> news_ ABSL_GUARDED_BY(mutex_);
  std::deque<control::v1::CancelExchangeRequest> cancels_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last member: uses the others
};

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_TOP_FEED_H_
