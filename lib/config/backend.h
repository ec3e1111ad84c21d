#ifndef SLUICE_LIB_CONFIG_BACKEND_H_
#define SLUICE_LIB_CONFIG_BACKEND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "lib/config/version.h"

namespace sluice::config {

/// Where a Store keeps its versions over the end of the process. Called by one thread at a time;
/// may block on the disk or the network.
class Backend {
 public:
  virtual ~Backend() = default;

  /// The versions it keeps, the oldest first. DATA_LOSS: the latest is there and cannot be read,
  /// the message says where; an earlier one that cannot be read is left out.
  virtual absl::StatusOr<std::vector<Version>> Load() = 0;

  /// Where a version is or would be, for people: a path, an address.
  virtual std::string PlaceOf(uint64_t generation) const = 0;

  /// Keeps `version`: on return it is there whatever becomes of process and machine. On an error
  /// it is not, and never will be; at no time is a part of it there.
  virtual absl::Status Append(const Version& version) = 0;

  /// Forgets the versions before `generation`. What cannot be forgotten now may be later.
  virtual void DropBefore(uint64_t generation) = 0;
};

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_BACKEND_H_
