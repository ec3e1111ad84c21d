#ifndef SLUICE_LIB_BASE_LOCAL_ADDRESS_H_
#define SLUICE_LIB_BASE_LOCAL_ADDRESS_H_

#include "absl/strings/string_view.h"

namespace sluice {

/// Whether `address` can be reached from this host alone, whatever names resolve to: "unix:PATH",
/// or "HOST:PORT" where HOST is a literal loopback address (127.0.0.0/8, [::1]). No name counts,
/// `localhost` neither.
bool IsLocalAddress(absl::string_view address);

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_LOCAL_ADDRESS_H_
