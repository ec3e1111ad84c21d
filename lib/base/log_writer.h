#ifndef SLUICE_LIB_BASE_LOG_WRITER_H_
#define SLUICE_LIB_BASE_LOG_WRITER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace sluice {

/// While one lives, the lines of Log are written by a thread of its own: who logs never waits for
/// whoever reads the log. Lines that come faster than they are taken are dropped once kMaxHeldBytes
/// wait, and counted in a line that says so. At most one at a time; it outlives the threads that
/// log.
class LogWriter {
 public:
  static constexpr size_t kMaxHeldBytes = size_t{1} << 20;
  /// How long the end waits for a reader to take what is left.
  static constexpr Duration kEndPatience = std::chrono::seconds(1);

  /// Writes to `fd`, which it does not own.
  explicit LogWriter(int fd);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

 private:
  void Put(absl::string_view line);
  void Run();
  /// Writes until all is written or `deadline` has passed, which is set once the end is near.
  void Write(absl::string_view lines, Instant* deadline);
  bool ending();

  const int fd_;
  Mutex mutex_;
  CondVar news_;
  std::string held_ ABSL_GUARDED_BY(mutex_);
  uint64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  std::thread::id writing_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_LOG_WRITER_H_
