#ifndef SLUICE_LIB_CONFIG_VALIDATE_H_
#define SLUICE_LIB_CONFIG_VALIDATE_H_

#include <string>
#include <vector>

#include "lib/config/config.h"

namespace sluice::config {

/// One thing that is wrong with a configuration.
struct Violation {
  std::string path;    // of the proto field, e.g. "pools[0].endpoints[1].uri"
  std::string reason;  // what is wrong and how to mend it
  friend bool operator==(const Violation&, const Violation&) = default;
};

/// All that is wrong with `config`, in the order of its fields; empty when it may be used. No
/// pools, no routes and a pool without endpoints are allowed: requests then get 503 or 404.
std::vector<Violation> Validate(const Config& config);

/// "path: reason" of each, one per line.
std::string ToString(const std::vector<Violation>& violations);

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_VALIDATE_H_
