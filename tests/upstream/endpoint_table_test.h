#ifndef SLUICE_TESTS_UPSTREAM_ENDPOINT_TABLE_TEST_H_
#define SLUICE_TESTS_UPSTREAM_ENDPOINT_TABLE_TEST_H_

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/upstream/endpoint_table.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_random.h"

namespace sluice::upstream {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using State = EndpointStateChanged::State;

inline constexpr auto kAny = [](absl::string_view) { return true; };

inline config::Pool PoolOf(const std::vector<std::string>& ids, const std::string& id = "chat") {
  config::Pool pool;
  pool.id = id;
  for (const std::string& endpoint : ids) {
    pool.endpoints.push_back({.id = endpoint, .uri = "http://" + endpoint + ".test:1/p"});
  }
  return pool;
}

class EndpointTableTest : public ::testing::Test {
 protected:
  /// A new configuration, of this one pool.
  void Use(config::Pool pool) {
    config::Config config;
    config.pools.push_back(std::move(pool));
    ++generation_;
    snapshot_ = std::make_shared<const config::Snapshot>(
        std::make_shared<config::Version>(
            config::Version{.config = std::move(config), .generation = generation_}),
        config::Secrets(), generation_);
  }
  const config::Pool& pool() const { return snapshot_->config().pools[0]; }

  std::variant<Lease, Shortage> TryAcquire(EndpointTable::Eligible eligible = kAny) {
    return table_.Acquire(*snapshot_, pool(), eligible);
  }
  Lease Acquire(EndpointTable::Eligible eligible = kAny) {
    return std::get<Lease>(TryAcquire(eligible));
  }
  Lease AcquireOf(absl::string_view wanted) {
    return Acquire([wanted](absl::string_view id) { return id == wanted; });
  }
  /// Why there is nothing; also what Lacks says.
  std::optional<Shortage> Lacks(EndpointTable::Eligible eligible = kAny) {
    const std::optional<Shortage> lacks = table_.Lacks(*snapshot_, pool(), eligible);
    const auto acquired = TryAcquire(eligible);
    const auto* shortage = std::get_if<Shortage>(&acquired);
    EXPECT_EQ(lacks, shortage != nullptr ? std::optional(*shortage) : std::nullopt);
    return lacks;
  }
  /// The ids that the next leases are of, each ended at once.
  std::string Next(int count) {
    std::string ids;
    for (int i = 0; i < count; ++i) ids += Acquire().id() + " ";
    return ids;
  }
  void Fail(absl::string_view id, int times = 5) {
    for (int i = 0; i < times; ++i) {
      AcquireOf(id).Report(Outcome::kFailure, Cause::kConnectFailed);
    }
  }
  void Probe(absl::string_view id, bool ok, int times) {
    const auto members = table_.Members(*snapshot_, pool());
    for (const Member& member : members->all) {
      for (int i = 0; member.id == id && i < times; ++i) table_.SeeProbe(member, ok, "refused");
    }
  }
  EndpointTable::Reading Read(const std::string& id) {
    return table_.Read("pools/chat/endpoints/" + id);
  }
  void ForgetAllBut() { table_.ForgetAllBut(snapshot_->config()); }

  std::vector<std::string> Told() { return std::exchange(told_, {}); }
  std::vector<std::string> Freed() { return std::exchange(freed_, {}); }

  testing::FakeClock clock_;
  testing::FakeRandom random_;
  std::vector<std::string> told_;   // "a ejected 10s"
  std::vector<std::string> freed_;  // pools
  EndpointTable table_{clock_,
                       random_,
                       {.on_change =
                            [this](EndpointStateChanged change) {
                              constexpr const char* kNames[] = {" active", " draining", " removed",
                                                                " ejected ", " trial"};
                              std::string text =
                                  change.endpoint.substr(change.endpoint.rfind('/') + 1) +
                                  kNames[static_cast<int>(change.state)];
                              if (change.state == State::kEjected) {
                                text += absl::FormatDuration(change.until - clock_.WallNow());
                              }
                              EXPECT_EQ(change.pool, "chat");
                              told_.push_back(text);
                            },
                        .on_free = [this](const std::string& id) { freed_.push_back(id); }}};
  uint64_t generation_ = 0;
  std::shared_ptr<const config::Snapshot> snapshot_;
};

}  // namespace sluice::upstream

#endif  // SLUICE_TESTS_UPSTREAM_ENDPOINT_TABLE_TEST_H_
