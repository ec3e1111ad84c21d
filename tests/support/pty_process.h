#ifndef SLUICE_TESTS_SUPPORT_PTY_PROCESS_H_
#define SLUICE_TESTS_SUPPORT_PTY_PROCESS_H_

#include <string>
#include <sys/types.h>
#include <vector>

#include "absl/strings/string_view.h"

#include "tests/support/patience.h"

namespace sluice::testing {

/// A program that a test runs in a terminal of its own, of the kind xterm, 120 columns by 40 lines.
/// The destructor kills it (SIGKILL) if it still runs. Confined to one thread.
class PtyProcess {
 public:
  /// `args[0]` is the program's path. A program that cannot be run exits with 127.
  explicit PtyProcess(const std::vector<std::string>& args);
  ~PtyProcess();
  PtyProcess(const PtyProcess&) = delete;
  PtyProcess& operator=(const PtyProcess&) = delete;

  /// Presses the keys that send `bytes`.
  void Type(absl::string_view bytes);
  /// Waits until the program has written `text` to the terminal, since it began or since the last
  /// text that was waited for. A program that redraws a screen writes only what changes.
  bool WaitFor(absl::string_view text, Duration patience = kPatience);
  /// All that it wrote.
  const std::string& out() const { return out_; }

  /// The exit code, 128 + N after signal N, or -1 if it did not end in time.
  int WaitForExit(Duration patience = kPatience);

 private:
  /// Whether there may be more to read.
  bool ReadSome();

  pid_t pid_ = -1;
  int fd_ = -1;
  std::string out_;
  size_t seen_ = 0;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_PTY_PROCESS_H_
