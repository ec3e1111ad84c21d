#include "lib/http/branches.h"

#include <optional>
#include <utility>

#include "lib/runtime/latch.h"
#include "lib/runtime/loop.h"

namespace sluice::http {
namespace {

/// Shared by the two fibers.
struct Course {
  runtime::Latch ended;
  bool interrupted = false;
  std::optional<runtime::Interrupter> interrupter;  // once it runs
};

class FiberBranch final : public Branch {
 public:
  explicit FiberBranch(std::shared_ptr<Course> course) : course_(std::move(course)) {}

  ~FiberBranch() override {
    if (course_->ended.is_open()) return;
    course_->interrupted = true;
    if (course_->interrupter.has_value()) course_->interrupter->Fire();
    course_->ended.Wait(kNever, runtime::Interrupts::kIgnore);
  }

 private:
  const std::shared_ptr<Course> course_;
};

}  // namespace

std::unique_ptr<Branch> FiberBranches::Begin(std::function<void()> work) {
  auto course = std::make_shared<Course>();
  ++running_;
  const bool spawned = runtime::Loop::Current()->Spawn([this, course, work = std::move(work)] {
    course->interrupter = runtime::Interrupter::Arm();
    if (course->interrupted) course->interrupter->Fire();
    work();
    --running_;
    course->ended.Open();
  });
  if (spawned) return std::make_unique<FiberBranch>(std::move(course));
  --running_;
  return nullptr;
}

}  // namespace sluice::http
