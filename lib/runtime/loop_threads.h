#ifndef SLUICE_LIB_RUNTIME_LOOP_THREADS_H_
#define SLUICE_LIB_RUNTIME_LOOP_THREADS_H_

#include <memory>
#include <thread>
#include <vector>

#include "lib/runtime/loop.h"

namespace sluice::runtime {

/// N loops, each on a thread of its own named `loop-0`, `loop-1`, ...
class LoopThreads {
 public:
  explicit LoopThreads(int count, LoopOptions options = {});
  ~LoopThreads() { Join(); }

  /// Stops the loops and joins the threads: returns when every fiber has ended. The loops stay, and
  /// what is posted to them from then on is never run. May be repeated.
  void Join();

  const std::vector<std::unique_ptr<Loop>>& loops() const { return loops_; }

 private:
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::thread> threads_;
};

}  // namespace sluice::runtime

#endif  // SLUICE_LIB_RUNTIME_LOOP_THREADS_H_
