#include "tests/soak/bad_day.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/strings/numbers.h"

#include "tests/soak/chaos_client.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMostFaults = 20;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  uint64_t value = 0;
  const char* text = std::getenv(name);
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

}  // namespace

BadDay::BadDay(uint64_t seconds)
    : seed_(FromEnvironment("SLUICE_SOAK_SEED", std::random_device()())),
      length_(FromEnvironment("SLUICE_SOAK_SECONDS", seconds)) {
  std::cout << "seed " << seed_ << ", " << length_.count() << " s" << std::endl;
}

void BadDay::Meanwhile(std::function<void(Random&)> work) {
  threads_.emplace_back([this, work = std::move(work), seed = seed_ + threads_.size()] {
    Random random(seed);
    while (!over_) work(random);
  });
}

void BadDay::Serve(int count, uint16_t port) {
  for (int number = 0; number < count; ++number) {
    threads_.emplace_back([this, port, seed = seed_ + 1000 + static_cast<uint64_t>(number)] {
      ChaosClient client(port, seed);
      while (!over_) {
        const std::string fault = client.Run(++last_stream_);
        if (fault.empty()) continue;
        const std::lock_guard<std::mutex> lock(mutex_);
        if (faults_.size() < kMostFaults) faults_.push_back(fault);
      }
      const std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [end, times] : client.ends()) ends_[end] += times;
    });
  }
}

void BadDay::Pause(milliseconds length) const {
  const auto end = std::chrono::steady_clock::now() + length;
  while (!over_ && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(5));
  }
}

void BadDay::Pass() {
  std::this_thread::sleep_for(length_);
  End();
}

void BadDay::End() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace sluice::testing
