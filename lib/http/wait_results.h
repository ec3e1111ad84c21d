#ifndef SLUICE_LIB_HTTP_WAIT_RESULTS_H_
#define SLUICE_LIB_HTTP_WAIT_RESULTS_H_

#include <string>
#include <utility>

#include "lib/exchange/seams.h"
#include "lib/runtime/wake.h"

namespace sluice::http {

/// Of a wait that ended with anything but kReady.
inline WaitResult NotReady(runtime::Wake wake) {
  return {wake == runtime::Wake::kDeadline ? WaitResult::kDeadline : WaitResult::kCancelled};
}

inline WaitResult Failed(Cause cause, std::string detail) {
  return {WaitResult::kFailed, cause, std::move(detail)};
}

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_WAIT_RESULTS_H_
