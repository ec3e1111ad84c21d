#ifndef SLUICE_LIB_EXCHANGE_OBSERVER_H_
#define SLUICE_LIB_EXCHANGE_OBSERVER_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/exchange/exchange.h"

namespace sluice {

/// One SSE event with data, as it passed.
struct FrameInfo {
  uint64_t index = 0;  // from 0
  uint64_t start = 0;  // offsets in the upstream's body, [start, end)
  uint64_t end = 0;
  absl::string_view event;   // the event name, "" when there is none
  absl::string_view data;    // payload, borrowed for the call; never logged
  Instant at;                // when the piece that completed it had been written
  Duration gap{0};           // since the previous frame; for the first one, since `accepted`
  bool valid = false;        // the data is JSON or `[DONE]`
  bool first_valid = false;  // this is the TTFT frame
};

/// Watches an exchange from the side. Calls come on the exchange's fiber, in wire order:
///   OnStarted (OnAttempt OnAttemptFailed)* OnAttempt? OnFirstByte? (OnFrame | OnUsage)* OnDone?
///   OnFinished
/// An answer that the gateway made itself has no last OnAttempt; one that never came has no
/// OnFirstByte. OnFirstByte comes at most once and before the first byte is written to the client.
/// OnDone comes only at a clean end, once. OnFinished comes exactly once, last, whatever happened.
/// No call may block or throw; the exchange is the same object throughout, and borrowed.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnStarted(const Exchange&) {}
  virtual void OnAttempt(const Exchange&, const Attempt&) {}
  virtual void OnAttemptFailed(const Exchange&, const Attempt&) {}
  virtual void OnFirstByte(const Exchange&) {}
  virtual void OnFrame(const Exchange&, const FrameInfo&) {}
  /// The usage changed; the last call has the usage that counts.
  virtual void OnUsage(const Exchange&, const Usage&) {}
  virtual void OnDone(const Exchange&) {}
  virtual void OnFinished(const Exchange&) {}
};

/// Hands each call to several observers in the order they were added. Observers must outlive it.
/// Add only before the first exchange.
class Observers final : public Observer {
 public:
  void Add(Observer* observer) { observers_.push_back(observer); }

  void OnStarted(const Exchange& x) override;
  void OnAttempt(const Exchange& x, const Attempt& a) override;
  void OnAttemptFailed(const Exchange& x, const Attempt& a) override;
  void OnFirstByte(const Exchange& x) override;
  void OnFrame(const Exchange& x, const FrameInfo& f) override;
  void OnUsage(const Exchange& x, const Usage& u) override;
  void OnDone(const Exchange& x) override;
  void OnFinished(const Exchange& x) override;

 private:
  std::vector<Observer*> observers_;
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_OBSERVER_H_
