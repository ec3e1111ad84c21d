#include "tests/support/engine_answer.h"

#include <errno.h>
#include <sys/socket.h>
#include <variant>

namespace sluice::testing {
namespace {

// A script that never waits must not keep the engine's thread from its other connections.
constexpr int kStepsPerTurn = 64;

}  // namespace

EngineAnswer::State EngineAnswer::Play(int fd, Instant now,
                                       const std::function<bool(const std::string&)>& is_open) {
  for (int turn = 0; step_ < script_.steps().size(); ++turn) {
    if (turn == kStepsPerTurn) return State::kYielded;
    const ScriptStep& step = script_.steps()[step_];
    if (const auto* send = std::get_if<SendStep>(&step)) {
      while (sent_ < send->bytes.size()) {
        const ssize_t n =
            ::send(fd, send->bytes.data() + sent_, send->bytes.size() - sent_, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN ? State::kBlocked : State::kPeerGone;
        sent_ += static_cast<size_t>(n);
      }
      sent_ = 0;
      pieces_sent_ += send->is_piece ? 1 : 0;
    } else if (const auto* pause = std::get_if<PauseStep>(&step)) {
      if (resume_at_ == kNever) resume_at_ = DeadlineAfter(now, pause->length);
      if (now < resume_at_) return State::kPaused;
      resume_at_ = kNever;
    } else if (const auto* gate = std::get_if<GateStep>(&step)) {
      gate_ = gate->name;
      if (!is_open(gate_)) return State::kAtGate;
    } else if (const auto* close = std::get_if<CloseStep>(&step)) {
      return close->reset ? State::kReset : State::kFin;
    } else if (const auto* loop = std::get_if<LoopStep>(&step)) {
      const uint64_t rounds = ++rounds_[step_];
      if (loop->times == kForever || rounds < loop->times) {
        step_ -= loop->length;
        continue;
      }
      rounds_.erase(step_);  // an outer loop may come here again
    }
    ++step_;
  }
  return State::kDone;
}

}  // namespace sluice::testing
