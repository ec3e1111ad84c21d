#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/dialect/dialect.h"

namespace sluice::dialect {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

RequestPeek Peek(absl::string_view body) {
  absl::StatusOr<RequestPeek> peek = PeekRequest(body);
  EXPECT_TRUE(peek.ok()) << body << ": " << peek.status();
  return peek.ok() ? *std::move(peek) : RequestPeek();
}
std::vector<uint64_t> Blocks(absl::string_view body) { return PromptBlocks(body, Peek(body)); }
std::optional<uint64_t> Conversation(absl::string_view body) {
  return ConversationHash(body, Peek(body));
}

std::string Message(absl::string_view role, absl::string_view text) {
  return absl::StrCat(R"({"role":")", role, R"(","content":")", text, R"("})");
}
std::string Chat(const std::vector<std::string>& messages,
                 absl::string_view front = R"("model":"m",)") {
  return absl::StrCat("{", front, R"("messages":[)", absl::StrJoin(messages, ","), "]}");
}

TEST(PeekPromptTest, TellsWhereTheMembersStand) {
  const std::string body =
      R"({"model" : "m","system":"be kind","messages":[ {"role":"user","content":"hi"} ],"x":1})";
  const RequestPeek peek = Peek(body);
  EXPECT_EQ(peek.model_value.In(body), "\"m\"");
  EXPECT_EQ(peek.preamble.In(body), "\"be kind\"");
  EXPECT_EQ(peek.prompt.In(body), R"([ {"role":"user","content":"hi"} ])");
  EXPECT_EQ(peek.opening.In(body), R"([ {"role":"user","content":"hi"})");
  EXPECT_TRUE(Peek(R"({"model":"m"})").prompt.empty());
}

TEST(PeekPromptTest, ReadsTheUser) {
  EXPECT_EQ(Peek(R"({"model":"m","user":"u1"})").user, "u1");
  EXPECT_EQ(Peek(R"({"model":"m","metadata":{"user_id":"u2","x":{"user_id":"no"}}})").user, "u2");
  EXPECT_EQ(Peek(R"({"model":"m","user":5,"x":{"user":"no"},"metadata":["user_id","no"]})").user,
            "");
  EXPECT_EQ(Peek(absl::StrCat(R"({"model":"m","user":")", std::string(257, 'u'), "\"}")).user, "");
}

TEST(PromptBlocksTest, OfATurnBeginThoseOfTheNext) {
  std::vector<std::string> messages = {Message("system", std::string(1500, 's'))};
  std::vector<uint64_t> before;
  for (int turn = 0; turn < 20; ++turn) {
    messages.push_back(Message("user", std::string(300 + 37 * turn, 'u')));
    const std::vector<uint64_t> blocks = Blocks(Chat(messages));
    ASSERT_GE(blocks.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), blocks.begin())) << turn;
    before = blocks;
    messages.push_back(Message("assistant", std::string(500, 'a')));
  }
  EXPECT_GT(before.size(), 15u);
}

TEST(PromptBlocksTest, AreOfThePromptAlone) {
  const std::vector<std::string> messages = {Message("user", std::string(5000, 'u'))};
  const std::vector<uint64_t> blocks = Blocks(Chat(messages));
  EXPECT_THAT(blocks, SizeIs(4));
  EXPECT_EQ(Blocks(Chat(messages, R"("stream":true,"model":"another","temperature":0.5,)")),
            blocks);
  EXPECT_NE(Blocks(Chat({Message("user", "x" + std::string(4999, 'u'))}))[0], blocks[0]);
}

TEST(PromptBlocksTest, DependOnAllThatCameBefore) {
  const std::string same(3000, 's');
  const auto a = Blocks(Chat({Message("user", "a" + same)}));
  const auto b = Blocks(Chat({Message("user", "b" + same)}));
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NE(a[i], b[i]) << i;
}

TEST(PromptBlocksTest, BeginWithTheSystemPromptWhereverItStands) {
  const std::string system = absl::StrCat(R"("system":")", std::string(2000, 's'), R"(")");
  const std::string messages = absl::StrCat(R"("messages":[)", Message("user", "hello"), "]");
  EXPECT_EQ(Blocks(absl::StrCat(R"({"model":"m",)", system, ",", messages, "}")),
            Blocks(absl::StrCat("{", messages, R"(,"model":"m",)", system, "}")));
}

TEST(PromptBlocksTest, AreBounded) {
  EXPECT_THAT(Blocks(Chat({Message("user", std::string(1 << 20, 'u'))})), SizeIs(256));
  EXPECT_THAT(Blocks(Chat({Message("user", "short")})), IsEmpty());
  EXPECT_THAT(Blocks(R"({"model":"m"})"), IsEmpty());
  EXPECT_THAT(Blocks(absl::StrCat(R"({"model":"m","prompt":")", std::string(2048, 'p'), "\"}")),
              SizeIs(2));
}

TEST(ConversationHashTest, IsTheSameInAllTurns) {
  std::vector<std::string> messages = {Message("system", "be kind"), Message("user", "hello")};
  const std::optional<uint64_t> first = Conversation(Chat(messages));
  ASSERT_TRUE(first.has_value());
  messages.push_back(Message("assistant", "hi"));
  messages.push_back(Message("user", "more"));
  EXPECT_EQ(Conversation(Chat(messages)), first);
  EXPECT_EQ(Conversation(Chat(messages, R"("stream":true,"model":"m",)")), first);
}

TEST(ConversationHashTest, TellsConversationsApart) {
  const auto hash = Conversation(Chat({Message("user", "hello")}));
  EXPECT_NE(Conversation(Chat({Message("user", "hallo")})), hash);
  EXPECT_NE(Conversation(Chat({Message("system", "be kind"), Message("user", "hello")})), hash);
  EXPECT_NE(Conversation(Chat({Message("user", "hello")}, R"("system":"s","model":"m",)")), hash);
}

TEST(ConversationHashTest, IsOfThePromptsBeginningWithoutMessages) {
  EXPECT_EQ(Conversation(R"({"model":"m"})"), std::nullopt);
  const std::string prompt(1100, 'p');
  EXPECT_EQ(Conversation(absl::StrCat(R"({"model":"m","prompt":")", prompt, "a\"}")),
            Conversation(absl::StrCat(R"({"model":"m","prompt":")", prompt, "b\"}")));
  EXPECT_TRUE(Conversation(R"({"model":"m","input":["a","b"]})").has_value());
}

}  // namespace
}  // namespace sluice::dialect
