#ifndef SLUICE_LIB_CONFIG_VERSION_H_
#define SLUICE_LIB_CONFIG_VERSION_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

#include "lib/config/config.h"

namespace sluice::config {

/// Who made a version, and how. Both are fit to show.
struct Authorship {
  std::string author;  // the name of an operator, or `--config`
  std::string origin;  // e.g. "rollback to generation 3"
};

/// One accepted configuration, as it is kept: without the values of its keys.
struct Version {
  Config config{};
  uint64_t generation = 0;  // counts accepted versions, from 1
  std::string etag{};       // unlike for every version, also those of other runs
  absl::Time time{};        // when it was accepted
  Authorship by{};
};

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_VERSION_H_
