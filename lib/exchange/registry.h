#ifndef SLUICE_LIB_EXCHANGE_REGISTRY_H_
#define SLUICE_LIB_EXCHANGE_REGISTRY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "lib/base/ids.h"
#include "lib/base/mutex.h"
#include "lib/exchange/cancellation.h"
#include "lib/exchange/exchange.h"
#include "lib/exchange/observer.h"
#include "lib/exchange/tap.h"

namespace sluice {

/// An exchange as it was at one moment.
struct ExchangeView {
  /// While it runs, only what is Published or never changes may be read of it; the members below
  /// stand for the rest.
  std::shared_ptr<const Exchange> record;
  bool finished = false;
  std::shared_ptr<const Subject> subject;
  std::vector<Attempt> attempts;
  std::optional<Instant> first_frame;
  std::optional<Usage> usage;

  const ExchangeInfo& info() const { return *subject->exchange; }
  /// The endpoints that work for it now: none, one, or two side by side.
  std::vector<absl::string_view> endpoints_in_use() const;
};

/// Every exchange of the gateway that runs, and the latest that finished: what other threads may
/// see of them and do to them. Thread-safe; no exchange ever waits for a reader.
class ExchangeRegistry final : public Observer {
 public:
  /// Keeps so many finished ones.
  explicit ExchangeRegistry(size_t finished_kept = 1000) : finished_kept_(finished_kept) {}

  /// The exchange begins: called on its fiber, before its observers hear of it, with `info` set. It
  /// leaves by OnFinished, after which the record does not change any more. `cancellation` must
  /// outlive that.
  void Enter(std::shared_ptr<Exchange> record, Cancellation& cancellation);

  /// The attempts of a running exchange, or which of them its events speak of, are not what they
  /// were when it heard of one last: called on its fiber.
  void AttemptsChanged(const Exchange& x);

  /// Those that began latest first.
  std::vector<ExchangeView> ListRunning() const;
  std::vector<ExchangeView> ListFinished() const;
  std::optional<ExchangeView> Find(ExchangeId id) const;

  enum class CancelResult { kCancelled, kEndingAlready, kFinished, kUnknown };
  /// `detail`: who and why, for the record.
  CancelResult Cancel(ExchangeId id, Cause cause, Instant at, absl::string_view detail);

  /// A copy of each frame that passes from now on; it is the exchange's as long as that runs, and
  /// the caller's. Null: no such exchange runs.
  std::shared_ptr<Tap> AddTap(ExchangeId id);
  /// The reader is gone.
  void RemoveTap(ExchangeId id, const std::shared_ptr<Tap>& tap);

  struct Books {
    uint64_t entered = 0;
    size_t running = 0;
    std::map<Cause, uint64_t> finished;
  };
  Books books() const;
  /// How many run by the generation of the configuration they hold, the latest first.
  std::map<uint64_t, int64_t, std::greater<>> RunningByGeneration() const;

  void OnAttempt(const Exchange& x, const Attempt& a) override;
  void OnAttemptFailed(const Exchange& x, const Attempt& a) override;
  void OnFrame(const Exchange& x, const FrameInfo& f) override;
  void OnUsage(const Exchange& x, const Usage& u) override;
  void OnFinished(const Exchange& x) override;

 private:
  using RunningPtr = std::shared_ptr<RunningExchange>;

  RunningPtr FindRunning(ExchangeId id) const;
  /// All that run, the latest first.
  std::vector<RunningPtr> AllRunning() const;

  const size_t finished_kept_;
  mutable Mutex mutex_;  // taken alone, or before a RunningExchange's
  absl::flat_hash_map<uint64_t, RunningPtr> running_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<const Exchange>> finished_ ABSL_GUARDED_BY(mutex_);  // latest last
  uint64_t entered_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Cause, uint64_t> finished_by_cause_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_REGISTRY_H_
