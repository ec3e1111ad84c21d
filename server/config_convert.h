#ifndef SLUICE_SERVER_CONFIG_CONVERT_H_
#define SLUICE_SERVER_CONFIG_CONVERT_H_

#include <vector>

#include "lib/config/config.h"
#include "lib/config/validate.h"
#include "lib/config/version.h"
#include "sluice/control/v1/config.pb.h"

namespace sluice::server {

/// Every setting, defaults too; the etag and the output-only fields stay empty.
control::v1::Config ToProto(const config::Config& config);
/// As above, with all fields set.
control::v1::Config ToProto(const config::Version& version);

/// What is not set gets its default. Adds to `violations` each value that the plain struct cannot
/// hold (an enum value that this version does not know); Validate finds the rest.
config::Config FromProto(const control::v1::Config& proto,
                         std::vector<config::Violation>* violations);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONFIG_CONVERT_H_
