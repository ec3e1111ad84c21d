// What a store does with a backend, and with the versions it keeps.

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <sys/inotify.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/config/store.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scoped_env.h"

namespace sluice::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What outlives the stores of a test.
struct Disk {
  std::map<uint64_t, Version> versions;
  bool full = false;
  std::function<void()> on_append = [] {};
};

class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(Disk& disk) : disk_(disk) {}
  absl::StatusOr<std::vector<Version>> Load() override {
    std::vector<Version> versions;
    for (const auto& [generation, version] : disk_.versions) versions.push_back(version);
    return versions;
  }
  std::string PlaceOf(uint64_t generation) const override {
    return absl::StrCat("disk:", generation);
  }
  absl::Status Append(const Version& version) override {
    disk_.on_append();
    if (disk_.full) return absl::ResourceExhaustedError("no space left");
    disk_.versions[version.generation] = version;
    return absl::OkStatus();
  }
  void DropBefore(uint64_t generation) override {
    disk_.versions.erase(disk_.versions.begin(), disk_.versions.lower_bound(generation));
  }

 private:
  Disk& disk_;
};

Config WithPool(const std::string& id) {
  Config config;
  config.pools = {{.id = id, .endpoints = {{"a", "http://127.0.0.1:9000"}}}};
  return config;
}

std::vector<uint64_t> Generations(const Store& store) {
  std::vector<uint64_t> generations;
  for (const auto& version : store.Versions()) generations.push_back(version->generation);
  return generations;
}

class StoreBackendTest : public ::testing::Test {
 protected:
  std::unique_ptr<Store> Opened() {
    auto store = std::make_unique<Store>(clock_);
    const absl::Status opened = store->Open(std::make_unique<FakeBackend>(disk_));
    EXPECT_TRUE(opened.ok()) << opened;
    return store;
  }

  static absl::Status Apply(Store& store, const Config& config, Authorship by = {}) {
    return store.Update(config, store.Current()->etag(), std::move(by)).status();
  }

  Disk disk_;
  testing::FakeClock clock_;
};

TEST_F(StoreBackendTest, HasNoVersionBeforeTheFirst) {
  const auto store = Opened();
  EXPECT_EQ(store->Current()->generation(), 0u);
  EXPECT_THAT(store->Versions(), IsEmpty());
  EXPECT_EQ(store->FindVersion(0), nullptr);
}

TEST_F(StoreBackendTest, KeepsWhoMadeEachVersionAndHow) {
  Store store(clock_);
  ASSERT_TRUE(Apply(store, WithPool("one"), {"ann", "update config"}).ok());
  ASSERT_TRUE(Apply(store, WithPool("two"), {"bob", "rollback"}).ok());
  EXPECT_THAT(Generations(store), ElementsAre(2, 1));
  const auto first = store.FindVersion(1);
  EXPECT_EQ(first->config, WithPool("one"));
  EXPECT_EQ(first->by.author, "ann");
  EXPECT_EQ(first->by.origin, "update config");
  EXPECT_EQ(first->time, clock_.WallNow());
  EXPECT_EQ(store.FindVersion(2)->etag, store.Current()->etag());
  EXPECT_EQ(store.FindVersion(3), nullptr);
}

TEST_F(StoreBackendTest, KeepsTheLatestVersionsOnly) {
  const auto store = Opened();
  for (size_t i = 0; i < kVersionsKept + 3; ++i) {
    ASSERT_TRUE(Apply(*store, WithPool("chat")).ok());
  }
  EXPECT_EQ(store->Versions().size(), kVersionsKept);
  EXPECT_EQ(store->FindVersion(3), nullptr);
  EXPECT_NE(store->FindVersion(4), nullptr);
  EXPECT_EQ(disk_.versions.size(), kVersionsKept);
  EXPECT_EQ(disk_.versions.begin()->first, 4u);
}

TEST_F(StoreBackendTest, GoesOnWhereTheOneBeforeEnded) {
  std::string etag;
  {
    const auto store = Opened();
    ASSERT_TRUE(Apply(*store, WithPool("one"), {"ann", "x"}).ok());
    ASSERT_TRUE(Apply(*store, WithPool("two")).ok());
    etag = store->Current()->etag();
  }
  const auto store = Opened();
  EXPECT_EQ(store->Current()->config(), WithPool("two"));
  EXPECT_EQ(store->Current()->generation(), 2u);
  EXPECT_EQ(store->FindVersion(1)->by.author, "ann");
  EXPECT_TRUE(store->Update(WithPool("three"), etag).ok()) << "the etag is as before";
  EXPECT_THAT(Generations(*store), ElementsAre(3, 2, 1));
}

TEST_F(StoreBackendTest, ChangesNothingThatItCannotStore) {
  const auto store = Opened();
  ASSERT_TRUE(Apply(*store, WithPool("one")).ok());
  const auto before = store->Current();
  int heard = 0;
  store->AddListener([&](const auto&) { ++heard; });
  disk_.full = true;
  const absl::Status refused = Apply(*store, WithPool("two"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("no space left"));
  EXPECT_EQ(store->Current(), before);
  EXPECT_THAT(Generations(*store), ElementsAre(1));
  EXPECT_EQ(heard, 0);

  disk_.full = false;
  EXPECT_TRUE(Apply(*store, WithPool("two")).ok());
  EXPECT_THAT(Generations(*store), ElementsAre(2, 1));
  EXPECT_EQ(heard, 1);
}

TEST_F(StoreBackendTest, StoresNothingThatIsRefused) {
  const auto store = Opened();
  EXPECT_FALSE(Apply(*store, WithPool("NO ID")).ok());
  EXPECT_FALSE(store->Update(WithPool("one"), "old").ok());
  EXPECT_THAT(disk_.versions, IsEmpty());
}

TEST_F(StoreBackendTest, HandsOutTheViolationsOneByOne) {
  Store store(clock_);
  std::vector<Violation> violations;
  EXPECT_FALSE(store.Update(WithPool("NO ID"), store.Current()->etag(), {}, &violations).ok());
  EXPECT_THAT(violations, ElementsAre(::testing::Field(&Violation::path, "pools[0].id")));
}

TEST_F(StoreBackendTest, TellsOfAnOldEtagWhateverElseIsWrong) {
  Store store(clock_);
  EXPECT_EQ(store.Update(WithPool("NO ID"), "old").status().code(), absl::StatusCode::kAborted);
}

// The other writer has passed the first look at its etag when it reads its key, and goes on when
// this one has won.
TEST_F(StoreBackendTest, RefusesAWriterWhoIsOvertakenWhileItsKeysAreRead) {
  const std::string key_file = ::testing::TempDir() + "sluice_store_overtaken_key";
  std::ofstream(key_file) << "sk-one";
  const int watch = ::inotify_init1(IN_CLOEXEC);
  ASSERT_GE(::inotify_add_watch(watch, key_file.c_str(), IN_CLOSE_NOWRITE), 0);
  const auto store = Opened();
  const std::string etag = store->Current()->etag();
  absl::Status overtaken;
  std::thread other;
  disk_.on_append = [&] {
    if (other.joinable()) return;  // the other writer itself
    other = std::thread([&] {
      Config config = WithPool("other");
      config.pools[0].keys = {{.id = "k1", .file = key_file}};
      overtaken = store->Update(config, etag).status();
    });
    inotify_event event;
    EXPECT_EQ(::read(watch, &event, sizeof(event)), static_cast<ssize_t>(sizeof(event)));
  };
  EXPECT_TRUE(store->Update(WithPool("chat"), etag).ok());
  other.join();
  EXPECT_EQ(overtaken.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(store->Current()->config(), WithPool("chat"));
  ::close(watch);
  std::remove(key_file.c_str());
}

TEST_F(StoreBackendTest, RefusesToGoOnFromAnInvalidVersion) {
  disk_.versions[7] = {.config = WithPool("NO ID"), .generation = 7, .etag = "e"};
  Store store(clock_);
  const absl::Status opened = store.Open(std::make_unique<FakeBackend>(disk_));
  EXPECT_EQ(opened.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(opened.message()), AllOf(HasSubstr("disk:7"), HasSubstr("pools[0].id")));
}

TEST_F(StoreBackendTest, GoesOnWithoutAKeyThatCannotBeRead) {
  Config config = WithPool("chat");
  config.pools[0].keys = {{.id = "k1", .env = "SLUICE_TEST_STORED_KEY"}};
  {
    const testing::ScopedEnv env("SLUICE_TEST_STORED_KEY", "sk-one");
    const auto store = Opened();
    ASSERT_TRUE(Apply(*store, config).ok());
  }
  {
    const auto store = Opened();
    const Pool& pool = store->Current()->config().pools[0];
    EXPECT_TRUE(store->Current()->SecretOf(pool, pool.keys[0]).empty());
  }
  const testing::ScopedEnv env("SLUICE_TEST_STORED_KEY", "sk-two");
  const auto store = Opened();
  const auto current = store->Current();
  EXPECT_EQ(
      current->SecretOf(current->config().pools[0], current->config().pools[0].keys[0]).Reveal(),
      "sk-two")
      << "keys are read again";
}

}  // namespace
}  // namespace sluice::config
