#ifndef SLUICE_ADMIN_INTERRUPTS_H_
#define SLUICE_ADMIN_INTERRUPTS_H_

#include <atomic>
#include <stop_token>
#include <thread>

namespace sluice::admin {

/// Turns SIGINT, SIGTERM and the loss of standard output's reader into a stop request, also while
/// nothing is written. A second signal ends the process at once. Make one per process, before other
/// threads exist.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();

  std::stop_token token() const { return source_.get_token(); }

  /// For its life, signals are another program's business: an editor on the same terminal, say.
  class Pause {
   public:
    explicit Pause(Interrupts& interrupts) : interrupts_(interrupts) { interrupts_.paused_ = true; }
    ~Pause() { interrupts_.paused_ = false; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Interrupts& interrupts_;
  };

 private:
  void Watch();

  std::atomic<bool> paused_{false};
  int signals_ = -1;  // signalfd
  int ended_ = -1;    // eventfd: the destructor runs
  std::stop_source source_;
  std::thread watcher_;
};

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_INTERRUPTS_H_
