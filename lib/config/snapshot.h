#ifndef SLUICE_LIB_CONFIG_SNAPSHOT_H_
#define SLUICE_LIB_CONFIG_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "lib/config/config.h"
#include "lib/config/secrets.h"

namespace sluice::config {

/// One accepted version of the configuration. Immutable, so thread-safe; an exchange holds the one
/// it started with to its end.
class Snapshot {
 public:
  /// `config` must have passed Validate; `secrets` are those of its keys.
  Snapshot(Config config, Secrets secrets, uint64_t generation, std::string etag,
           absl::Time update_time);

  const Config& config() const { return config_; }
  /// 0 for the empty configuration at start; grows by one with each change.
  uint64_t generation() const { return generation_; }
  const std::string& etag() const { return etag_; }
  absl::Time update_time() const { return update_time_; }

  /// The pool that serves `model` ("" when the request names none), or null.
  const Pool* PoolForModel(absl::string_view model) const;
  const Pool* FindPool(absl::string_view id) const;

  /// The value of a key of this configuration.
  const Secret& SecretOf(const Pool& pool, const Key& key) const {
    return secrets_.Find(pool.id, key.id);
  }

 private:
  const Config config_;
  const Secrets secrets_;
  const uint64_t generation_;
  const std::string etag_;
  const absl::Time update_time_;
  std::map<std::string, const Pool*, std::less<>> pools_;
  std::map<std::string, const Pool*, std::less<>> exact_routes_;
  std::vector<std::pair<std::string, const Pool*>> prefix_routes_;  // longest first
};

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_SNAPSHOT_H_
