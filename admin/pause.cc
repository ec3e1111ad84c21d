#include "admin/pause.h"

#include <condition_variable>
#include <mutex>

namespace sluice::admin {

void PauseUnlessStopped(std::chrono::milliseconds delay, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock<std::mutex> lock(mutex);
  never.wait_for(lock, stop, delay, [] { return false; });
}

}  // namespace sluice::admin
