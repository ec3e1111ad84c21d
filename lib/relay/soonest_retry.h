#ifndef SLUICE_LIB_RELAY_SOONEST_RETRY_H_
#define SLUICE_LIB_RELAY_SOONEST_RETRY_H_

#include <string>

#include "absl/time/time.h"

#include "lib/exchange/message.h"

namespace sluice::relay {

/// When a client may come again, as far as the answers to its exchange's attempts say: as soon as
/// the first of them has something for it, whichever of them it gets. Thread-compatible.
class SoonestRetry {
 public:
  /// An attempt was answered so, at `now`.
  void See(const ResponseHead& answer, absl::Time now);
  /// `answer`, which was seen, is for the client: its `Retry-After`, if it has one, becomes the one
  /// of the soonest, as its upstream wrote it.
  void PutInto(ResponseHead& answer) const;

 private:
  absl::Time at_ = absl::InfiniteFuture();
  std::string value_;  // "": no answer said
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_SOONEST_RETRY_H_
