#ifndef SLUICE_LIB_CONFIG_SNAPSHOT_H_
#define SLUICE_LIB_CONFIG_SNAPSHOT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "lib/config/config.h"
#include "lib/config/route_table.h"
#include "lib/config/secrets.h"
#include "lib/config/version.h"

namespace sluice::config {

/// One accepted version of the configuration. Immutable, so thread-safe; an exchange holds the one
/// it started with to its end.
class Snapshot {
 public:
  /// The configuration of `version` must have passed Validate; `secrets` are those of its keys.
  Snapshot(std::shared_ptr<const Version> version, Secrets secrets, uint64_t edition);

  const Version& version() const { return *version_; }
  const Config& config() const { return version_->config; }
  /// 0 for the empty configuration at start; grows by one with each change.
  uint64_t generation() const { return version_->generation; }
  /// Grows with each change, and when the value of a key changes beneath the same configuration.
  uint64_t edition() const { return edition_; }
  const std::string& etag() const { return version_->etag; }
  absl::Time update_time() const { return version_->time; }

  const RouteTable& routes() const { return routes_; }
  /// Null: there is no such pool.
  const Pool* FindPool(absl::string_view id) const { return routes_.FindPool(id); }

  /// The value of a key of this configuration.
  const Secrets& secrets() const { return secrets_; }
  const Secret& SecretOf(const Pool& pool, const Key& key) const {
    return secrets_.Find(pool.id, key.id);
  }

 private:
  const std::shared_ptr<const Version> version_;
  const Secrets secrets_;
  const uint64_t edition_;
  const RouteTable routes_;
};

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_SNAPSHOT_H_
