#ifndef SLUICE_SERVER_RELOADER_H_
#define SLUICE_SERVER_RELOADER_H_

#include <set>
#include <string>
#include <thread>

#include "lib/admission/client_keys.h"
#include "lib/admission/wait_queue.h"
#include "lib/base/mutex.h"
#include "lib/config/store.h"

namespace sluice::server {

/// Takes in what changes with time: the files that hold keys, those of clients each second and
/// those of pools each five; and ejections and rests that end, for which nobody wakes the requests
/// that wait. Works on a thread of its own, as disks may be slow.
class Reloader {
 public:
  /// `client_keys` may be null. All must outlive it.
  Reloader(config::Store& store, admission::ClientKeysFile* client_keys,
           admission::WaitQueues& queues);
  ~Reloader();

  /// Reads the files of keys now; returns when that is done.
  void ReloadNow();

 private:
  void Run();
  void ReloadPoolKeys();

  config::Store& store_;
  admission::ClientKeysFile* const client_keys_;
  admission::WaitQueues& queues_;
  std::set<std::string> complaints_;  // of the last look
  Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool asked_ ABSL_GUARDED_BY(mutex_) = false;  // by ReloadNow, until it is done
  std::thread thread_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_RELOADER_H_
