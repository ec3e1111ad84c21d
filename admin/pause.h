#ifndef SLUICE_ADMIN_PAUSE_H_
#define SLUICE_ADMIN_PAUSE_H_

#include <chrono>
#include <stop_token>

namespace sluice::admin {

/// Waits for `delay`, or until `stop` is requested.
void PauseUnlessStopped(std::chrono::milliseconds delay, std::stop_token stop);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_PAUSE_H_
