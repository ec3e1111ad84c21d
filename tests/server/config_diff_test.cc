#include "server/config_diff.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"

#include "server/config_convert.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

config::Config Base() {
  config::Config config;
  config.pools = {{.id = "chat", .endpoints = {{"a", "http://127.0.0.1:9000"}}}, {.id = "other"}};
  config.routes = {{"gpt-*", "chat"}, {"*", "other"}};
  return config;
}

/// One line a change.
std::vector<std::string> Diff(const config::Config& before, const config::Config& after) {
  std::vector<std::string> lines;
  for (const pb::ConfigChange& change : DiffConfigs(ToProto(before), ToProto(after))) {
    const std::string kind = pb::ConfigChange::Kind_Name(change.kind()).substr(5);
    lines.push_back(
        absl::StrCat(kind, " ", change.path(), ": ", change.before(), " -> ", change.after()));
  }
  return lines;
}

TEST(ConfigDiffTest, FindsNothingBetweenEqualConfigurations) {
  EXPECT_THAT(Diff(Base(), Base()), IsEmpty());
}

TEST(ConfigDiffTest, NamesEachFieldThatChanges) {
  config::Config after = Base();
  after.pools[0].endpoints[0].uri = "http://127.0.0.1:9001";
  after.pools[0].timeouts.idle = std::chrono::milliseconds(1500);
  after.pools[0].retry.max_attempts = 5;
  after.pools[0].retry.retry_503 = false;
  after.pools[0].commit = config::CommitPoint::kOnHead;
  after.routes[0].pool = "other";
  after.limits.max_body_bytes = 1000;
  EXPECT_THAT(
      Diff(Base(), after),
      ElementsAre(
          R"(CHANGED pools/chat/endpoints/a.uri: "http://127.0.0.1:9000" -> "http://127.0.0.1:9001")",
          R"(CHANGED pools/chat.timeouts.idle: "60s" -> "1.500s")",
          R"(CHANGED pools/chat.retry.max_attempts: 3 -> 5)",
          R"(CHANGED pools/chat.retry.retry_503: true -> false)",
          R"(CHANGED pools/chat.commit_point: "COMMIT_POINT_FIRST_FRAME" -> "COMMIT_POINT_ON_HEAD")",
          R"(CHANGED routes/gpt-*.pool: "chat" -> "other")",
          R"(CHANGED limits.max_body_bytes: 67108864 -> 1000)"));
}

TEST(ConfigDiffTest, ShowsAListOfWordsAsOneValue) {
  config::Config after = Base();
  after.pools[0].models = {"gpt-4o", "a\"b"};
  EXPECT_THAT(Diff(Base(), after),
              ElementsAre(R"(CHANGED pools/chat.models: [] -> ["gpt-4o", "a\"b"])"));
}

TEST(ConfigDiffTest, TellsRoutesForOneModelApartByTheirOrder) {
  config::Config before = Base();
  before.routes.push_back({.model = "gpt-*", .pool = "other", .headers = {{"x-tier", "gold"}}});
  config::Config after = before;
  after.routes[2].pool = "chat";
  EXPECT_THAT(Diff(before, after),
              ElementsAre(R"(CHANGED routes/gpt-*#2.pool: "other" -> "chat")"));
}

TEST(ConfigDiffTest, ShowsWhatComesAndGoesAsAWhole) {
  config::Config after = Base();
  after.pools[0].endpoints = {{"b", "http://127.0.0.1:9001"}};
  after.pools[1].id = "new";
  after.routes.pop_back();
  const auto lines = Diff(Base(), after);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0], HasSubstr("REMOVED pools/other: {\"id\":\"other\""));
  EXPECT_EQ(
      lines[1],
      R"(REMOVED pools/chat/endpoints/a: {"id":"a","uri":"http://127.0.0.1:9000","weight":1} -> )");
  EXPECT_EQ(
      lines[2],
      R"(ADDED pools/chat/endpoints/b:  -> {"id":"b","uri":"http://127.0.0.1:9001","weight":1})");
  EXPECT_THAT(lines[3], HasSubstr("ADDED pools/new:  -> {\"id\":\"new\""));
  EXPECT_EQ(lines[4], R"(REMOVED routes/*: {"model":"*","pool":"other"} -> )");
}

TEST(ConfigDiffTest, ShowsAFieldThatIsOnlyThereOnOneSide) {
  config::Config before = Base();
  before.pools[0].keys = {{.id = "k1", .env = "KEY"}};
  config::Config after = Base();
  after.pools[0].keys = {{.id = "k1", .file = "/run/\"key\""}};
  EXPECT_THAT(Diff(before, after),
              ElementsAre(R"(REMOVED pools/chat/keys/k1.env: "KEY" -> )",
                          R"(ADDED pools/chat/keys/k1.file:  -> "/run/\"key\"")"));
}

TEST(ConfigDiffTest, ShowsAZeroAsAValue) {
  config::Config after = Base();
  after.pools[0].ask_usage = true;
  EXPECT_THAT(Diff(Base(), after), ElementsAre("CHANGED pools/chat.ask_usage: false -> true"));
  EXPECT_THAT(Diff(after, Base()), ElementsAre("CHANGED pools/chat.ask_usage: true -> false"));
}

TEST(ConfigDiffTest, ShowsTheOrderWhereItMatters) {
  config::Config before = Base();
  before.routes[0].fallbacks = {{.pool = "chat"}, {.pool = "other"}};
  config::Config after = before;
  std::swap(after.routes[0].fallbacks[0], after.routes[0].fallbacks[1]);
  EXPECT_THAT(Diff(before, after),
              ElementsAre("CHANGED routes/gpt-*/fallbacks: chat, other -> other, chat"));
}

TEST(ConfigDiffTest, TakesAnotherOrderForNoChange) {
  config::Config after = Base();
  std::swap(after.pools[0], after.pools[1]);
  std::swap(after.routes[0], after.routes[1]);
  EXPECT_THAT(Diff(Base(), after), IsEmpty());
}

/// Lists are told apart by a first field that is a string: what else may be in the proto one day
/// needs code.
void ExpectComparable(const Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const Descriptor* message = field.message_type();
    if (field.is_repeated() && message == nullptr) {
      EXPECT_EQ(field.type(), FieldDescriptor::TYPE_STRING) << field.full_name();
    } else if (field.is_repeated()) {
      const FieldDescriptor* key = message->FindFieldByNumber(1);
      ASSERT_NE(key, nullptr) << field.full_name();
      EXPECT_EQ(key->type(), FieldDescriptor::TYPE_STRING) << field.full_name();
    }
    if (message != nullptr && message->file()->package() != "google.protobuf") {
      ExpectComparable(*message);
    }
  }
}

TEST(ConfigDiffTest, CanCompareEveryFieldThereIs) { ExpectComparable(*pb::Config::descriptor()); }

}  // namespace
}  // namespace sluice::server
