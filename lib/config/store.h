#ifndef SLUICE_LIB_CONFIG_STORE_H_
#define SLUICE_LIB_CONFIG_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/config/backend.h"
#include "lib/config/secrets.h"
#include "lib/config/snapshot.h"
#include "lib/config/validate.h"
#include "lib/config/version.h"

namespace sluice::config {

/// How many versions a store keeps, the one in force included.
inline constexpr size_t kVersionsKept = 100;

/// The current configuration with its compare-and-swap, and the versions before it. In memory
/// alone, unless Open names a backend. Thread-safe; Current() is cheap enough for every request.
/// `clock` must outlive it.
class Store {
 public:
  explicit Store(const Clock& clock);

  /// Goes on from the versions that `backend` keeps, the latest of which becomes current, and keeps
  /// each further one there before it becomes current. Once, before any other call. Errors as
  /// Backend::Load; DATA_LOSS too: the latest version is not valid; the message says where it is,
  /// and lists all violations. A key that cannot be read has no value; the log tells of it.
  absl::Status Open(std::unique_ptr<Backend> backend);

  /// Never null; the empty configuration (generation 0) until one is accepted.
  std::shared_ptr<const Snapshot> Current() const;

  /// The accepted versions that are kept, the one in force first.
  std::vector<std::shared_ptr<const Version>> Versions() const;
  /// Null when it is not kept.
  std::shared_ptr<const Version> FindVersion(uint64_t generation) const;

  /// All that keeps `config` from being applied: what Validate finds; if that is nothing, the keys
  /// that cannot be read. A key that the current configuration has in the same pool, with the same
  /// source, keeps its value or its lack of one: it is no matter of the change. May block on the
  /// disk.
  std::vector<Violation> Check(const Config& config) const;

  /// Checks `config`, reads its keys, stores it and makes it current if `expected_etag` is the
  /// etag of the current one. Else nothing has changed. ABORTED: another change came first, the
  /// message has the current etag. INVALID_ARGUMENT: `violations`, if given, and the message have
  /// what is wrong. UNAVAILABLE: it could not be stored.
  absl::StatusOr<std::shared_ptr<const Snapshot>> Update(
      Config config, absl::string_view expected_etag, Authorship by = {},
      std::vector<Violation>* violations = nullptr);

  /// Reads the keys of the current configuration anew: if the value of one has changed, a snapshot
  /// with the new values takes the place of the current one, of the same version. Returns whether
  /// it did. A key that cannot be read keeps its value, if it had any, and is in `unreadable`, with
  /// the configuration in `of`. May block on the disk.
  struct Unreadable {
    std::shared_ptr<const Snapshot> of;
    std::vector<UnreadableKey> keys;
  };
  bool ReloadSecrets(Unreadable* unreadable);

  /// `listener` hears each snapshot that becomes current from now on, in order, on the updating
  /// thread. It must not call back into the store.
  void AddListener(std::function<void(const std::shared_ptr<const Snapshot>&)> listener);

 private:
  std::vector<Violation> Check(const Config& config, Secrets* secrets) const;
  absl::Status CheckEtag(absl::string_view expected) const;
  void MakeCurrent(std::shared_ptr<const Version> version,
                   std::shared_ptr<const Snapshot> snapshot);
  uint64_t NextEdition() const { return Current()->edition() + 1; }

  const Clock& clock_;
  Mutex update_mutex_;  // serialises updates; taken before mutex_
  std::unique_ptr<Backend> backend_ ABSL_GUARDED_BY(update_mutex_);  // null: none
  std::vector<std::function<void(const std::shared_ptr<const Snapshot>&)>> listeners_
      ABSL_GUARDED_BY(update_mutex_);
  mutable Mutex mutex_;
  std::shared_ptr<const Snapshot> current_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<const Version>> versions_ ABSL_GUARDED_BY(mutex_);  // latest first
};

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_STORE_H_
