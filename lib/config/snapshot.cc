#include "lib/config/snapshot.h"

#include <utility>

namespace sluice::config {

Snapshot::Snapshot(std::shared_ptr<const Version> version, Secrets secrets, uint64_t edition)
    : version_(std::move(version)),
      secrets_(std::move(secrets)),
      edition_(edition),
      routes_(version_->config) {}

}  // namespace sluice::config
