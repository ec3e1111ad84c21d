#ifndef SLUICE_LIB_CONFIG_STORE_H_
#define SLUICE_LIB_CONFIG_STORE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/config/snapshot.h"

namespace sluice::config {

/// The current configuration and its compare-and-swap. Thread-safe; Current() is cheap enough for
/// every request. `clock` must outlive it.
class Store {
 public:
  explicit Store(const Clock& clock);

  /// Never null; the empty configuration (generation 0) until one is accepted.
  std::shared_ptr<const Snapshot> Current() const;

  /// Validates `config`, reads its keys and makes it current if `expected_etag` is the etag of the
  /// current one. ABORTED: another change came first, the message has the current etag.
  /// INVALID_ARGUMENT: what Validate or ReadSecrets found; nothing changed.
  absl::StatusOr<std::shared_ptr<const Snapshot>> Update(Config config,
                                                         absl::string_view expected_etag);

  /// `listener` hears each snapshot accepted from now on, in order, on the updating thread. It must
  /// not call back into the store.
  void AddListener(std::function<void(const std::shared_ptr<const Snapshot>&)> listener);

 private:
  const Clock& clock_;
  Mutex update_mutex_;  // serialises updates; taken before mutex_
  std::vector<std::function<void(const std::shared_ptr<const Snapshot>&)>> listeners_
      ABSL_GUARDED_BY(update_mutex_);
  mutable Mutex mutex_;
  std::shared_ptr<const Snapshot> current_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_STORE_H_
