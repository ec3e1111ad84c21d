#include "lib/config/store.h"

#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Config WithPool(const std::string& id) {
  Config config;
  config.pools = {{.id = id, .endpoints = {{"a", "http://127.0.0.1:9000"}}}};
  config.routes = {{"*", id}};
  return config;
}

class StoreTest : public ::testing::Test {
 protected:
  SystemClock clock_;
  Store store_{clock_};
};

TEST_F(StoreTest, StartsWithTheEmptyConfigAtGenerationZero) {
  const auto current = store_.Current();
  EXPECT_EQ(current->config(), Config{});
  EXPECT_EQ(current->generation(), 0u);
  EXPECT_FALSE(current->etag().empty());
}

TEST_F(StoreTest, SwapsWhenTheEtagIsCurrent) {
  const auto before = store_.Current();
  const auto after = store_.Update(WithPool("chat"), before->etag());
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(store_.Current(), *after);
  EXPECT_EQ((*after)->config(), WithPool("chat"));
  EXPECT_EQ((*after)->generation(), 1u);
  EXPECT_NE((*after)->etag(), before->etag());
}

TEST_F(StoreTest, KeepsASnapshotWhoHoldsItUnchanged) {
  const auto held = *store_.Update(WithPool("chat"), store_.Current()->etag());
  ASSERT_TRUE(store_.Update(WithPool("other"), held->etag()).ok());
  EXPECT_EQ(held->routes().Find("m", {})->pool, "chat");
}

TEST_F(StoreTest, AbortsOnAnOldEtagAndNamesTheCurrentOne) {
  const std::string old_etag = store_.Current()->etag();
  ASSERT_TRUE(store_.Update(WithPool("chat"), old_etag).ok());
  const auto refused = store_.Update(WithPool("other"), old_etag);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr(store_.Current()->etag()));
  EXPECT_EQ(store_.Current()->config(), WithPool("chat"));
}

TEST_F(StoreTest, GivesTheSameConfigANewEtagWhenItComesBack) {
  const std::string first = (*store_.Update(WithPool("chat"), store_.Current()->etag()))->etag();
  ASSERT_TRUE(store_.Update(WithPool("other"), first).ok());
  ASSERT_TRUE(store_.Update(WithPool("chat"), store_.Current()->etag()).ok());
  EXPECT_NE(store_.Current()->etag(), first);
}

TEST_F(StoreTest, RefusesAnInvalidConfigAndKeepsTheOldOne) {
  const auto before = store_.Current();
  const auto refused = store_.Update(WithPool("NOT AN ID"), before->etag());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("pools[0].id"));
  EXPECT_EQ(store_.Current(), before);
}

TEST_F(StoreTest, TellsListenersOfAcceptedSnapshotsOnly) {
  std::vector<uint64_t> heard;
  store_.AddListener([&](const auto& snapshot) { heard.push_back(snapshot->generation()); });
  ASSERT_TRUE(store_.Update(WithPool("chat"), store_.Current()->etag()).ok());
  ASSERT_FALSE(store_.Update(WithPool("chat"), "old").ok());
  ASSERT_FALSE(store_.Update(WithPool(""), store_.Current()->etag()).ok());
  ASSERT_TRUE(store_.Update(WithPool("chat"), store_.Current()->etag()).ok());
  EXPECT_THAT(heard, ElementsAre(1, 2));
}

TEST_F(StoreTest, LetsExactlyOneOfSeveralWritersWinEachEtag) {
  constexpr int kWriters = 4;
  constexpr int kRounds = 500;
  std::atomic<int> wins{0};
  // Between two rounds, when nobody writes.
  const auto check = [&, round = 0]() mutable noexcept {
    ++round;
    EXPECT_EQ(wins, round);
    EXPECT_EQ(store_.Current()->generation(), static_cast<uint64_t>(round));
  };
  std::barrier begin(kWriters);
  std::barrier end(kWriters, check);
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&] {
      for (int n = 0; n < kRounds; ++n) {
        const std::string etag = store_.Current()->etag();
        begin.arrive_and_wait();
        if (store_.Update(WithPool("chat"), etag).ok()) ++wins;
        end.arrive_and_wait();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace sluice::config
