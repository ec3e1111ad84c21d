#ifndef SLUICE_SERVER_CONFIG_DIFF_H_
#define SLUICE_SERVER_CONFIG_DIFF_H_

#include <vector>

#include "sluice/control/v1/config.pb.h"
#include "sluice/control/v1/control_service.pb.h"

namespace sluice::server {

/// What differs between two valid configurations, in the order of the fields. Walks the messages by
/// reflection, so a field added to the proto is compared as well. The elements of a list are told
/// apart by their first field (`id`, `model`), not by their place: one that comes or goes is one
/// change, and another order is none.
std::vector<control::v1::ConfigChange> DiffConfigs(const control::v1::Config& before,
                                                   const control::v1::Config& after);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CONFIG_DIFF_H_
