#ifndef SLUICE_TESTS_SUPPORT_ENGINE_ANSWER_H_
#define SLUICE_TESTS_SUPPORT_ENGINE_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "lib/base/clock.h"
#include "tests/support/engine_script.h"

namespace sluice::testing {

/// One script on its way out of one connection: where it stands, and the writes. It never blocks.
/// Confined to one thread.
class EngineAnswer {
 public:
  enum class State {
    kBlocked,   // the socket is full
    kPaused,    // until resume_at()
    kAtGate,    // gate() is shut
    kYielded,   // it could go on, but others have a turn first
    kDone,      // every step ran
    kFin,       // the script says: close in order
    kReset,     // the script says: close with an RST
    kPeerGone,  // a write met a reset
  };

  /// `number` is for the caller: which request of the engine this answers.
  EngineAnswer(Script script, uint64_t number) : script_(std::move(script)), number_(number) {}

  /// Runs steps on the non-blocking socket `fd` until one has to wait. `is_open` tells whether a
  /// gate is.
  State Play(int fd, Instant now, const std::function<bool(const std::string& gate)>& is_open);

  const Script& script() const { return script_; }
  uint64_t number() const { return number_; }
  uint64_t pieces_sent() const { return pieces_sent_; }
  Instant resume_at() const { return resume_at_; }
  const std::string& gate() const { return gate_; }

 private:
  Script script_;
  uint64_t number_;
  size_t step_ = 0;
  size_t sent_ = 0;  // of the current SendStep
  uint64_t pieces_sent_ = 0;
  Instant resume_at_ = kNever;  // of the current PauseStep, once begun
  std::string gate_;
  std::map<size_t, uint64_t> rounds_;  // of each LoopStep that has begun, by its index
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_ENGINE_ANSWER_H_
