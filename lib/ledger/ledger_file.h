#ifndef SLUICE_LIB_LEDGER_LEDGER_FILE_H_
#define SLUICE_LIB_LEDGER_LEDGER_FILE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/base/line_file.h"
#include "lib/base/mutex.h"
#include "lib/exchange/observer.h"

namespace sluice::ledger {

/// Appends a LedgerLine for each exchange that finishes to a file, in the order of their ends, by a
/// thread of its own: exchanges never wait for the disk. Thread-safe.
///
/// A line is in the file a few milliseconds after its exchange ended, and stays when the process is
/// killed. Once a second the disk confirms (fdatasync) what was written since, which then survives
/// the machine. While the file cannot be written, as on a full disk, it is tried again each second,
/// and up to `max_waiting` exchanges are kept; more are lost, counted and told in the log. When the
/// file is moved away, as logrotate does, a new one takes its place within a second.
class LedgerFile final : public Observer {
 public:
  struct Options {
    size_t max_waiting = 32'768;  // about 50 MiB
    Duration tick = std::chrono::seconds(1);
  };

  /// Errors are those of LineFile::Open.
  static absl::StatusOr<std::unique_ptr<LedgerFile>> Open(const std::string& path,
                                                          const Options& options);
  /// Writes what waits, and has the disk confirm it.
  ~LedgerFile() override;

  void OnFinished(const Exchange& x) override;

  /// Exchanges that are in no line, and will not be.
  uint64_t lost() const;

 private:
  using Records = std::vector<std::shared_ptr<const Exchange>>;

  LedgerFile(std::unique_ptr<LineFile> file, const Options& options);

  /// Tells the log when something begins to fail, and when it works again.
  class Trouble {
   public:
    explicit Trouble(absl::string_view what) : what_(what) {}
    void Note(const absl::Status& status);
    bool now() const { return now_; }

   private:
    const absl::string_view what_;
    bool now_ = false;
  };

  void Run();
  /// Waits until there are exchanges, if they are `wanted`, or for the next tick. Returns whether
  /// the end has come, and puts those that are wanted into `records`, which is empty.
  bool Await(bool wanted, Records* records);
  /// Takes off `lines` what could be written.
  void Write(std::string* lines);
  void Sync();
  void Tick();
  void TellLost();

  const Options options_;
  mutable Mutex mutex_;
  CondVar news_;
  Records waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t lost_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;

  // The thread's own.
  const std::unique_ptr<LineFile> file_;
  Instant next_tick_;
  bool unconfirmed_ = false;  // something was written since the last Sync
  uint64_t lost_told_ = 0;
  Trouble writing_{"the ledger cannot be written"};
  Trouble confirming_{"the disk does not confirm the ledger"};
  Trouble following_{"the ledger goes on in the file that was moved away"};

  std::thread thread_;
};

}  // namespace sluice::ledger

#endif  // SLUICE_LIB_LEDGER_LEDGER_FILE_H_
