#ifndef SLUICE_TESTS_SUPPORT_FAKE_BRANCHES_H_
#define SLUICE_TESTS_SUPPORT_FAKE_BRANCHES_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "lib/exchange/seams.h"

namespace sluice::testing {

/// A branch runs to its end when the test says so, else when it is ended.
class FakeBranches final : public Branches {
 public:
  bool has_memory = true;

  std::unique_ptr<Branch> Begin(std::function<void()> work) override {
    if (!has_memory) return nullptr;
    begun_.push_back(std::make_shared<std::function<void()>>(std::move(work)));
    return std::make_unique<Stored>(begun_.back());
  }

  size_t begun() const { return begun_.size(); }
  /// The one that was begun as number `i`, from 0.
  void Run(size_t i) { RunOnce(*begun_.at(i)); }

 private:
  static void RunOnce(std::function<void()>& work) {
    if (const std::function<void()> once = std::exchange(work, nullptr)) once();
  }

  class Stored final : public Branch {
   public:
    explicit Stored(std::shared_ptr<std::function<void()>> work) : work_(std::move(work)) {}
    ~Stored() override { RunOnce(*work_); }

   private:
    const std::shared_ptr<std::function<void()>> work_;
  };

  std::vector<std::shared_ptr<std::function<void()>>> begun_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_FAKE_BRANCHES_H_
