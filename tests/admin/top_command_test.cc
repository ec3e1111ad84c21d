// What the keys of `top` do, and `top` as a whole, without a terminal.

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"

#include "admin/top_keys.h"
#include "tests/admin/sluicectl_test.h"
#include "tests/admin/top_sample.h"
#include "tests/support/patience.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Column = TopModel::Column;

class TopKeysTest : public ::testing::Test {
 protected:
  TopKeysTest() { model_.Add(SampleAt(std::chrono::seconds(0))); }

  TopKeys::Action Press(TopKey::Kind kind) { return keys_.Press({kind}); }
  /// Presses the keys of `text`; what the last one does.
  TopKeys::Action Type(absl::string_view text) {
    TopKeys::Action action;
    for (const char character : text) {
      action = keys_.Press({TopKey::Kind::kCharacter, character});
    }
    return action;
  }

  TopModel model_;
  TopKeys keys_{model_};
};

TEST_F(TopKeysTest, EachDoesWhatTheHelpSays) {
  Type("s");
  EXPECT_EQ(model_.column(), Column::kIdle);
  Type("r");
  EXPECT_TRUE(model_.reversed());
  Type("p");
  EXPECT_TRUE(model_.paused());
  Type("p");
  EXPECT_FALSE(model_.paused());
  Press(TopKey::Kind::kPageUp);
  EXPECT_EQ(model_.selected(), 0u);
  Press(TopKey::Kind::kDown);
  EXPECT_EQ(model_.selected(), 1u);
  Press(TopKey::Kind::kPageDown);
  EXPECT_EQ(model_.selected(), 2u);
  Press(TopKey::Kind::kUp);
  EXPECT_EQ(model_.selected(), 1u);
  Type("h");
  EXPECT_TRUE(keys_.help());
  Type("q");
  EXPECT_FALSE(keys_.help()) << "any key leaves the help, and does no more";
  EXPECT_EQ(Type("z").kind, TopKeys::Action::Kind::kNone);
  EXPECT_EQ(Type("q").kind, TopKeys::Action::Kind::kQuit);
}

TEST_F(TopKeysTest, FilterIsTypedAndHoldsAtOnce) {
  Type("/alq");
  EXPECT_EQ(Order(model_), "");
  Press(TopKey::Kind::kBackspace);
  EXPECT_EQ(Order(model_), "21") << "alpha, and alice's";
  EXPECT_THAT(keys_.Prompt(), EndsWith(": al_"));
  Press(TopKey::Kind::kEnter);
  Type("s");
  EXPECT_EQ(model_.filter(), "al");
  Type("/");
  EXPECT_THAT(keys_.Prompt(), EndsWith(": al_")) << "it can be edited";
  Press(TopKey::Kind::kEscape);
  EXPECT_EQ(model_.filter(), "");
}

TEST_F(TopKeysTest, CancelAsksWhyAndWhether) {
  Type("k\xc3\xa9");
  Press(TopKey::Kind::kBackspace);
  Type("runs awayy");
  Press(TopKey::Kind::kBackspace);
  EXPECT_THAT(keys_.Prompt(), StartsWith("cancel 00000002, alpha at chat/a? Why "));
  EXPECT_THAT(keys_.Prompt(), EndsWith(": runs away_"));
  Press(TopKey::Kind::kEnter);
  EXPECT_THAT(keys_.Prompt(), HasSubstr("Press y to do it"));
  TopSample gone = SampleAt(std::chrono::seconds(1));
  gone.exchanges.mutable_exchanges()->SwapElements(1, 2);
  gone.exchanges.mutable_exchanges()->RemoveLast();
  model_.Add(std::move(gone));
  const TopKeys::Action action = Type("y");
  EXPECT_EQ(action.kind, TopKeys::Action::Kind::kCancel);
  EXPECT_EQ(action.exchange, "x0000000100000002") << "the one asked about, not the one there now";
  EXPECT_EQ(action.reason, "runs away");
}

TEST_F(TopKeysTest, CancelCanBeLeft) {
  Type("kwhy");
  Press(TopKey::Kind::kEscape);
  EXPECT_EQ(Type("y").kind, TopKeys::Action::Kind::kNone);
  Type("k");
  Press(TopKey::Kind::kEnter);
  EXPECT_EQ(Type("x").kind, TopKeys::Action::Kind::kNone);
  EXPECT_EQ(Type("y").kind, TopKeys::Action::Kind::kNone);
  Type("k");
  Press(TopKey::Kind::kEnter);
  EXPECT_EQ(Press(TopKey::Kind::kEnter).kind, TopKeys::Action::Kind::kNone);
  model_.SetFilter("nothing");
  Type("k");
  EXPECT_THAT(keys_.Prompt(), StartsWith("q quit")) << "there is nothing to cancel";
}

/// A screen that presses keys, each once what it waits for is shown.
class ScriptedScreen final : public TopScreen {
 public:
  struct Step {
    std::string wait_for;
    TopKey key;
  };
  ScriptedScreen(std::deque<Step> steps, std::string* seen)
      : steps_(std::move(steps)), seen_(*seen) {}

  size_t width() const override { return 100; }
  size_t height() const override { return 30; }
  void Draw(const std::vector<TopLine>& lines) override {
    seen_.clear();
    for (const TopLine& line : lines) absl::StrAppend(&seen_, line.text, "\n");
  }
  std::optional<TopKey> ReadKey(std::chrono::milliseconds) override {
    if (std::chrono::steady_clock::now() > patience_ends_) {
      ADD_FAILURE() << "not shown: " << (steps_.empty() ? "the end" : steps_.front().wait_for)
                    << "\n"
                    << seen_;
      return TopKey{TopKey::Kind::kCharacter, 'q'};
    }
    if (steps_.empty() || seen_.find(steps_.front().wait_for) == std::string::npos) {
      return std::nullopt;
    }
    const TopKey key = steps_.front().key;
    steps_.pop_front();
    return key;
  }

 private:
  const Instant patience_ends_ = std::chrono::steady_clock::now() + sluice::testing::kPatience;
  std::deque<Step> steps_;
  std::string& seen_;
};

class TopCommandTest : public SluicectlTest {
 protected:
  TopCommandTest() {
    server_.status = Parse<v1::ServerStatus>(kStatus);
    server_.endpoints = Parse<v1::ListEndpointsResponse>(kEndpoints);
    server_.exchange_pages = {Parse<v1::ListExchangesResponse>(kExchanges)};
  }
  static TopKey Character(char character) { return {TopKey::Kind::kCharacter, character}; }
};

TEST_F(TopCommandTest, PrintsOnePictureWhereThereIsNoTerminal) {
  EXPECT_EQ(Run({"top", "--interval", "100ms"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("up 3h00m"));
  EXPECT_THAT(out(), HasSubstr("\nchat/b    draining "));
  EXPECT_THAT(out(), HasSubstr("\n00000001  Gamma  chat/a "));
  EXPECT_THAT(out(), Not(HasSubstr("q quit")));
}

TEST_F(TopCommandTest, PrintsOneObjectAsJson) {
  EXPECT_EQ(Run({"top", "--interval", "100ms", "--output", "json", "--model", "a"}), ExitCode::kOk);
  EXPECT_THAT(out(), StartsWith("{\"status\":{\"version\":\"0.1.0\""));
  EXPECT_THAT(out(), HasSubstr("},\"exchanges\":{\"exchanges\":[{\"id\":"));
  EXPECT_THAT(server_.requests(),
              ::testing::Contains("page_size: 1000 selection: SELECTION_LIVE models: \"a\""));
}

TEST_F(TopCommandTest, ShowsAndCancelsUntilTheUserQuits) {
  std::string seen;
  server_.exchange_result = grpc::Status::OK;
  open_screen_ = [&seen]() -> std::unique_ptr<TopScreen> {
    return std::make_unique<ScriptedScreen>(
        std::deque<ScriptedScreen::Step>{{"00000002  alpha", Character('k')},
                                         {"Why", Character('!')},
                                         {": !_", {TopKey::Kind::kEnter}},
                                         {"Press y", Character('y')},
                                         {"cancelled 00000002", Character('q')}},
        &seen);
  };
  EXPECT_EQ(Run({"top", "--interval", "100ms"}), ExitCode::kOk);
  EXPECT_EQ(out(), "");
  EXPECT_THAT(server_.requests(), ::testing::Contains("id: \"x0000000100000002\" reason: \"!\""));
}

TEST_F(TopCommandTest, EndsOnAnInterrupt) {
  open_screen_ = [this]() -> std::unique_ptr<TopScreen> {
    static std::string seen;
    stop_.request_stop();
    return std::make_unique<ScriptedScreen>(std::deque<ScriptedScreen::Step>{}, &seen);
  };
  EXPECT_EQ(Run({"top"}), ExitCode::kOk);
}

TEST_F(TopCommandTest, SaysWhatToDoAboutAnUnknownTerminal) {
  open_screen_ = [] { return nullptr; };
  EXPECT_EQ(Run({"top"}), ExitCode::kError);
  EXPECT_THAT(err(), HasSubstr("--once"));
  EXPECT_EQ(Run({"top", "--interval", "50ms"}), ExitCode::kUsage);
}

}  // namespace
}  // namespace sluice::admin
