#include "lib/runtime/loop.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include "lib/base/log.h"
#include "lib/runtime/fiber.h"
#include "lib/runtime/socket.h"

namespace sluice::runtime {
namespace {

thread_local Loop* current_loop = nullptr;

/// Waits in a row that a fiber may find ready before the others get their turn.
constexpr int kTurnsInARow = 16;
/// Rounds of the loop after which a fiber that yielded goes on, whoever is ready.
constexpr int kMostRoundsYielded = 64;

/// Long enough for more bytes to come from a sender that does not pause, and short beside what a
/// reader notices.
constexpr timespec kRest{.tv_sec = 0, .tv_nsec = 500'000};

Instant Now() { return std::chrono::steady_clock::now(); }

[[noreturn]] void FailToStart(const char* what) {
  Log(LogLevel::kError, "no event loop", {{"failed", what}, {"errno", errno}});
  std::abort();
}

}  // namespace

Loop::Loop(LoopOptions options)
    : options_(options),
      epoll_fd_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (epoll_fd_ < 0 || wake_fd_ < 0) FailToStart("epoll_create1 or eventfd");
  if (!Watch(wake_fd_, nullptr)) FailToStart("epoll_ctl");
}

Loop::~Loop() {
  all_fibers_.clear();
  ::close(wake_fd_);
  ::close(epoll_fd_);
}

Loop* Loop::Current() { return current_loop; }

bool Loop::Watch(int fd, Socket* socket) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = socket;
  return ::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void Loop::Run() {
  current_loop = this;
  while (true) {
    {
      MutexLock lock(&posted_mutex_);
      if (stopping_ && posted_.empty() && fibers() == 0) break;
    }
    Poll();
    RunPosted();
    FireTimers();
    RunReady();
  }
  current_loop = nullptr;
}

void Loop::Stop() {
  {
    MutexLock lock(&posted_mutex_);
    stopping_ = true;
  }
  Post([] {});
}

void Loop::Post(std::function<void()> task) {
  // The write is under the lock: whoever runs the task may go on to destroy this loop.
  MutexLock lock(&posted_mutex_);
  const bool was_empty = posted_.empty();
  posted_.push_back(std::move(task));
  // Nobody reads the counter: edge-triggered, each write is an event of its own.
  if (was_empty) [[maybe_unused]]
    const int failed = ::eventfd_write(wake_fd_, 1);
}

bool Loop::Spawn(std::function<void()> body) {
  if (idle_.empty()) {
    auto fiber = std::make_unique<Fiber>(options_.stack_bytes);
    if (!fiber->has_stack()) return false;
    idle_.push_back(fiber.get());
    all_fibers_.push_back(std::move(fiber));
  }
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  fiber->SetBody(std::move(body));
  fiber->interrupted = false;
  fiber->state = Fiber::State::kReady;
  ready_.push_back(fiber);
  live_fibers_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

Wake Loop::Suspend(Instant deadline, bool interruptible) {
  Fiber* self = running_;
  self->state = Fiber::State::kWaiting;
  self->deadline = deadline;
  self->interruptible = interruptible;
  self->turns = 0;
  if (deadline < self->armed) Arm(self);
  self->Suspend();
  return self->wake;
}

void Loop::Schedule(Fiber* fiber, Wake wake) {
  if (fiber->state != Fiber::State::kWaiting) return;
  fiber->state = Fiber::State::kReady;
  fiber->wake = wake;
  fiber->PrefetchStack();
  ready_.push_back(fiber);
}

void Loop::SpendTurn() {
  Fiber* self = running_;
  if (++self->turns < kTurnsInARow) return;
  self->turns = 0;
  self->state = Fiber::State::kReady;
  ready_.push_back(self);
  self->Suspend();
}

// A wait that ends leaves its timer in the heap: the next one is usually later, and then only
// FireTimers, once per timeout and not once per wait, moves it on. An entry whose time is not the
// fiber's `armed` is stale.
void Loop::Arm(Fiber* fiber) {
  fiber->armed = fiber->deadline;
  timers_.emplace_back(fiber->armed, fiber);
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
}

void Loop::FireTimers() {
  if (timers_.empty()) return;
  const Instant now = Now();
  while (!timers_.empty() && timers_.front().first <= now) {
    const auto [time, fiber] = timers_.front();
    std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
    timers_.pop_back();
    if (time != fiber->armed) continue;
    fiber->armed = kNever;
    if (fiber->state != Fiber::State::kWaiting) continue;
    if (fiber->deadline <= now) {
      Schedule(fiber, Wake::kDeadline);
    } else if (fiber->deadline != kNever) {
      Arm(fiber);
    }
  }
}

int Loop::PollTimeoutMs() const {
  if (!ready_.empty() || !yielded_.empty()) return 0;
  if (timers_.empty()) return -1;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(timers_.front().first - Now());
  return static_cast<int>(std::clamp<int64_t>(wait.count(), 0, 60'000));
}

void Loop::Poll() {
  // Many, so that what a crowd asks for at once is known before any of it is done.
  std::array<epoll_event, 1024> events;
  const int timeout_ms = PollTimeoutMs();
  if (std::exchange(rest_due_, false) && timeout_ms != 0) {
    rests_.fetch_add(1, std::memory_order_relaxed);
    ::ppoll(nullptr, 0, &kRest, nullptr);
  }
  const int count = ::epoll_wait(epoll_fd_, events.data(), events.size(), timeout_ms);
  // All marks are set before any fiber runs: a fiber may close a socket that has an event in this
  // batch.
  for (int i = 0; i < count; ++i) {
    if (auto* socket = static_cast<Socket*>(events[i].data.ptr)) {
      socket->OnEvents(events[i].events);
    }
  }
}

void Loop::RunPosted() {
  std::vector<std::function<void()>> tasks;
  {
    MutexLock lock(&posted_mutex_);
    if (posted_.empty()) return;
    tasks.swap(posted_);
  }
  for (const auto& task : tasks) task();
}

void Loop::RunReady() {
  if (!yielded_.empty() && (ready_.empty() || ++rounds_yielded_ == kMostRoundsYielded)) {
    ready_.insert(ready_.end(), yielded_.begin(), yielded_.end());
    yielded_.clear();
    rounds_yielded_ = 0;
  }
  batch_.swap(ready_);
  size_t hurried = 0;
  for (Fiber* fiber : batch_) {
    running_ = fiber;
    fiber->state = Fiber::State::kRunning;
    bool goes_on = fiber->Resume();
    while (borrower_.has_value()) {
      RunBorrower();
      goes_on = fiber->Resume();
    }
    running_ = nullptr;
    hurried += std::exchange(fiber->hurried, false) ? 1 : 0;
    if (goes_on) continue;
    live_fibers_.fetch_sub(1, std::memory_order_relaxed);
    idle_.push_back(fiber);
  }
  rest_due_ = 2 * hurried > batch_.size();
  batch_.clear();
}

void Loop::RunBorrower() {
  try {
    (*borrower_)();
  } catch (...) {
    borrower_threw_ = std::current_exception();
  }
  borrower_.reset();
}

Wake SleepUntil(Instant deadline, Interrupts interrupts) {
  Loop* loop = Loop::Current();
  if (interrupts == Interrupts::kHeed && loop->running_->interrupted) return Wake::kInterrupted;
  return loop->Suspend(deadline, interrupts != Interrupts::kIgnore);
}

void Yield() {
  Loop* loop = Loop::Current();
  Fiber* self = loop->running_;
  self->state = Fiber::State::kReady;
  loop->yielded_.push_back(self);
  self->Suspend();
}

void LetMoreCome() { Loop::Current()->running_->hurried = true; }

void RunOnLoopStack(absl::FunctionRef<void()> work) {
  Loop* loop = Loop::Current();
  loop->borrower_.emplace(work);
  loop->running_->Suspend();
  if (loop->borrower_threw_ != nullptr) {
    std::rethrow_exception(std::exchange(loop->borrower_threw_, nullptr));
  }
}

void ReleaseUnusedStack() {
  // The margin covers what madvise's own call needs below this frame.
  constexpr size_t kMarginBytes = 512;
  char* here = static_cast<char*>(__builtin_frame_address(0));
  Loop::Current()->running_->stack().ReleaseBelow(here - kMarginBytes);
}

Interrupter Interrupter::Arm() {
  Loop* loop = Loop::Current();
  Fiber* fiber = loop->running_;
  fiber->interrupted = false;
  return Interrupter(loop, fiber, ++fiber->interrupt_span);
}

void Interrupter::Fire() const {
  if (Loop::Current() == loop_) {
    FireOnLoop();
  } else {
    loop_->Post([copy = *this] { copy.FireOnLoop(); });
  }
}

void Interrupter::FireOnLoop() const {
  if (fiber_->interrupt_span != span_) return;
  fiber_->interrupted = true;
  if (fiber_->interruptible) loop_->Schedule(fiber_, Wake::kInterrupted);
}

}  // namespace sluice::runtime
