#include "lib/config/secrets.h"

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/config/store.h"
#include "tests/support/scoped_env.h"

namespace sluice::config {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Config ConfigWith(Key key) {
  Config config;
  config.pools.push_back({.id = "empty"});
  config.pools.push_back({.id = "chat"});
  config.pools[1].keys.push_back({.id = "first", .env = "SLUICE_TEST_FIRST"});
  config.pools[1].keys.push_back(std::move(key));
  return config;
}

class SecretsTest : public ::testing::Test {
 protected:
  ~SecretsTest() override { std::remove(path_.c_str()); }

  void WriteFile(absl::string_view text) { std::ofstream(path_, std::ios::binary) << text; }
  Key FileKey() const { return {.id = "second", .file = path_}; }

  /// The value that the second key comes to, or its only violation.
  std::string Read(const Key& key) {
    Secrets secrets;
    const Config config = ConfigWith(key);
    const std::vector<UnreadableKey> unreadable = ReadSecrets(config, &secrets);
    EXPECT_EQ(secrets.Find("chat", "first").Reveal(), "sk-first");
    if (unreadable.empty()) return std::string(secrets.Find("chat", "second").Reveal());
    EXPECT_TRUE(secrets.Find("chat", "second").empty());
    EXPECT_EQ(unreadable.size(), 1u);
    EXPECT_EQ(unreadable[0].pool.id, "chat");
    EXPECT_EQ(unreadable[0].key, key);
    return ToString({unreadable[0].violation});
  }

  testing::ScopedEnv first_{"SLUICE_TEST_FIRST", "sk-first"};
  const std::string path_ = absl::StrCat(::testing::TempDir(), "sluice_secrets_test_key");
};

TEST_F(SecretsTest, ReadsAnEnvironmentVariable) {
  const testing::ScopedEnv env("SLUICE_TEST_SECOND", " sk-second ");
  EXPECT_EQ(Read({.id = "second", .env = "SLUICE_TEST_SECOND"}), "sk-second");
}

TEST_F(SecretsTest, ReadsAFileWithoutTheBlanksAround) {
  WriteFile("\n sk-from-file\r\n");
  EXPECT_EQ(Read(FileKey()), "sk-from-file");
}

TEST_F(SecretsTest, TellsWhichKeyCannotBeRead) {
  EXPECT_THAT(Read({.id = "second", .env = "SLUICE_TEST_UNSET"}),
              HasSubstr("pools[1].keys[1].env: "));
  EXPECT_THAT(Read(FileKey()), HasSubstr("pools[1].keys[1].file: "));
  EXPECT_THAT(Read({.id = "second", .file = "/dev/zero"}), HasSubstr("regular file"));
}

TEST_F(SecretsTest, TellsNothingOfAValueItCannotUse) {
  for (const std::string& text :
       {std::string(), std::string(" \n"), std::string("sk-a sk-b"), std::string("sk-a\r\nX: y"),
        std::string("sk-\xc3\xa9"), std::string("sk-\0", 4), std::string(8193, 'k')}) {
    WriteFile(text);
    const std::string said = Read(FileKey());
    EXPECT_THAT(said, HasSubstr("pools[1].keys[1].file: "));
    EXPECT_THAT(said, Not(HasSubstr("sk-")));
  }
}

TEST_F(SecretsTest, AreReadAgainWithEachUpdate) {
  SystemClock clock;
  Store store(clock);
  const auto update = [&] { return store.Update(ConfigWith(FileKey()), store.Current()->etag()); };
  EXPECT_EQ(update().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store.Current()->generation(), 0u);
  for (const absl::string_view value : {"sk-old", "sk-new"}) {
    WriteFile(value);
    ASSERT_TRUE(update().ok());
    const auto snapshot = store.Current();
    const Pool& pool = snapshot->config().pools[1];
    EXPECT_EQ(snapshot->SecretOf(pool, pool.keys[1]).Reveal(), value);
  }
}

TEST_F(SecretsTest, AStoreTakesANewValueWithoutANewVersion) {
  WriteFile("sk-old");
  const SystemClock clock;
  Store store(clock);
  const auto before = *store.Update(ConfigWith(FileKey()), store.Current()->etag());
  int heard = 0;
  store.AddListener([&heard](const auto&) { ++heard; });
  Store::Unreadable unreadable;
  EXPECT_FALSE(store.ReloadSecrets(&unreadable));
  EXPECT_EQ(store.Current(), before);

  WriteFile("sk-new");
  EXPECT_TRUE(store.ReloadSecrets(&unreadable));
  EXPECT_TRUE(unreadable.keys.empty());
  const auto after = store.Current();
  const Pool& pool = after->config().pools[1];
  EXPECT_EQ(after->SecretOf(pool, pool.keys[1]).Reveal(), "sk-new");
  EXPECT_EQ(after->etag(), before->etag());
  EXPECT_EQ(after->generation(), before->generation());
  EXPECT_GT(after->edition(), before->edition());
  EXPECT_EQ(before->SecretOf(pool, pool.keys[1]).Reveal(), "sk-old");
  EXPECT_EQ(heard, 1);
}

TEST_F(SecretsTest, AStoreKeepsTheOldValueOfAFileThatWentAndTakesTheOthers) {
  WriteFile("sk-old");
  const SystemClock clock;
  Store store(clock);
  ASSERT_TRUE(store.Update(ConfigWith(FileKey()), store.Current()->etag()).ok());
  std::remove(path_.c_str());
  const testing::ScopedEnv first("SLUICE_TEST_FIRST", "sk-new");
  Store::Unreadable unreadable;
  EXPECT_TRUE(store.ReloadSecrets(&unreadable));
  ASSERT_EQ(unreadable.keys.size(), 1u);
  EXPECT_EQ(unreadable.keys[0].pool.id, "chat");
  EXPECT_EQ(unreadable.keys[0].key.id, "second");
  const auto current = store.Current();
  const Pool& pool = current->config().pools[1];
  EXPECT_EQ(current->SecretOf(pool, pool.keys[0]).Reveal(), "sk-new");
  EXPECT_EQ(current->SecretOf(pool, pool.keys[1]).Reveal(), "sk-old");
}

TEST_F(SecretsTest, AFileThatWentIsNoMatterOfAChangeOfSomethingElse) {
  WriteFile("sk-old");
  const SystemClock clock;
  Store store(clock);
  ASSERT_TRUE(store.Update(ConfigWith(FileKey()), store.Current()->etag()).ok());
  std::remove(path_.c_str());
  Config config = ConfigWith(FileKey());
  config.limits.max_in_flight = 7;
  EXPECT_THAT(store.Check(config), IsEmpty());
  ASSERT_TRUE(store.Update(config, store.Current()->etag()).ok());
  const auto current = store.Current();
  EXPECT_EQ(current->config().limits.max_in_flight, 7);
  EXPECT_EQ(current->secrets().Find("chat", "second").Reveal(), "sk-old");
}

TEST_F(SecretsTest, AChangeThatNamesAFileThatIsNotThereIsRefused) {
  WriteFile("sk-old");
  const SystemClock clock;
  Store store(clock);
  ASSERT_TRUE(store.Update(ConfigWith(FileKey()), store.Current()->etag()).ok());
  const Key elsewhere = {.id = "second", .file = path_ + ".new"};
  ASSERT_EQ(store.Check(ConfigWith(elsewhere)).size(), 1u);
  EXPECT_EQ(store.Check(ConfigWith(elsewhere))[0].path, "pools[1].keys[1].file");
  EXPECT_EQ(store.Update(ConfigWith(elsewhere), store.Current()->etag()).status().code(),
            absl::StatusCode::kInvalidArgument);

  std::remove(path_.c_str());
  Config moved = ConfigWith(FileKey());
  moved.pools[1].id = "other";  // has no value of that key
  EXPECT_EQ(store.Check(moved).size(), 1u);
}

}  // namespace
}  // namespace sluice::config
