#ifndef SLUICE_LIB_EXCHANGE_CANCELLATION_H_
#define SLUICE_LIB_EXCHANGE_CANCELLATION_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/exchange/cause.h"

namespace sluice {

/// Ends one exchange from outside: the client hung up, an operator cancelled, a drain ran out. The
/// first cause wins. Thread-safe.
class Cancellation {
 public:
  /// `wake` runs at most once, on the thread of the winning Cancel (at once if that was before): it
  /// must make the wait the exchange is in return. It must not call back into this object.
  void OnCancel(std::function<void()> wake);
  /// The exchange is past cancelling: `wake` will not run after this returns.
  void Detach();

  /// Returns whether this was the first cause. `at`: now. `detail` is for the record: who and why.
  bool Cancel(Cause cause, Instant at, absl::string_view detail = "");

  std::optional<Cause> cause() const;
  std::string detail() const;
  /// When it fired; absent like cause().
  std::optional<Instant> fired_at() const;

 private:
  mutable Mutex mutex_;
  std::optional<Cause> cause_ ABSL_GUARDED_BY(mutex_);
  std::string detail_ ABSL_GUARDED_BY(mutex_);
  std::optional<Instant> fired_at_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> wake_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_CANCELLATION_H_
