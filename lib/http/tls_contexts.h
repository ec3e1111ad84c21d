#ifndef SLUICE_LIB_HTTP_TLS_CONTEXTS_H_
#define SLUICE_LIB_HTTP_TLS_CONTEXTS_H_

#include <memory>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/exchange/seams.h"
#include "lib/exchange/upstream_address.h"
#include "lib/http/tls_context.h"
#include "lib/runtime/blocking.h"

namespace sluice::http {

/// One TlsContext for each TlsOptions in use. Made when it is first asked for, and anew when one of
/// its files has changed; when that fails, the old one goes on. Thread-safe.
class TlsContexts {
 public:
  /// For how long a renewed file may go unseen.
  static constexpr Duration kRecheck = std::chrono::seconds(1);

  /// `threads`: to read files on; must outlive it.
  explicit TlsContexts(runtime::BlockingPool& threads);
  ~TlsContexts();

  /// The running fiber may wait. Not kOk: kDeadline, kCancelled, or kFailed with kTlsFailed: a file
  /// cannot be used.
  WaitResult Get(const TlsOptions& options, Instant deadline, std::shared_ptr<TlsContext>* context);

  /// Reads all files again now, so that the log says again what is wrong with them. Blocks.
  void Reload();

 private:
  class Entry;

  std::shared_ptr<Entry> EntryFor(const TlsOptions& options);

  runtime::BlockingPool& threads_;
  Mutex mutex_;
  std::vector<std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);  // a few
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_TLS_CONTEXTS_H_
