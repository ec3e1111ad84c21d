#ifndef SLUICE_TESTS_SOAK_BAD_DAY_H_
#define SLUICE_TESTS_SOAK_BAD_DAY_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace sluice::testing {

/// What goes on at once while a gateway runs: clients, and whatever else is given to it, for as
/// long as SLUICE_SOAK_SECONDS says, from the seed in SLUICE_SOAK_SEED.
class BadDay {
 public:
  using Random = std::mt19937_64;

  /// `seconds`: its length where nothing is said.
  explicit BadDay(uint64_t seconds);
  ~BadDay() { End(); }
  BadDay(const BadDay&) = delete;
  BadDay& operator=(const BadDay&) = delete;

  uint64_t seed() const { return seed_; }

  /// Runs `work` again and again on a thread of its own until the day is over.
  void Meanwhile(std::function<void(Random&)> work);
  /// Runs `count` clients against the gateway at `port`, each one stream after another.
  void Serve(int count, uint16_t port);
  /// For `work`: returns early when the day is over.
  void Pause(std::chrono::milliseconds length) const;
  bool over() const { return over_; }

  /// Returns at the end of the day, when all has come to its end.
  void Pass();
  /// The same, at once.
  void End();

  // After that:

  /// What was wrong with what clients got.
  const std::vector<std::string>& faults() const { return faults_; }
  /// How many exchanges ended how, from the clients' side.
  std::map<std::string, uint64_t>& ends() { return ends_; }

 private:
  const uint64_t seed_;
  const std::chrono::seconds length_;
  std::atomic<bool> over_{false};
  std::atomic<uint64_t> last_stream_{0};
  std::vector<std::thread> threads_;
  std::mutex mutex_;  // of the two below, until the end
  std::vector<std::string> faults_;
  std::map<std::string, uint64_t> ends_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SOAK_BAD_DAY_H_
