#include "admin/top_model.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"

#include "admin/top_layout.h"
#include "tests/admin/top_sample.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Column = TopModel::Column;

TEST(TopModelTest, SortsByEachColumnInTurn) {
  TopModel model;
  model.Add(SampleAt(std::chrono::seconds(0)));
  TopSample second = SampleAt(std::chrono::seconds(2));
  second.exchanges.mutable_exchanges(1)->set_frames(160);  // 30/s
  second.exchanges.mutable_exchanges(2)->set_frames(220);  // 10/s
  model.Add(std::move(second));
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"age", "213"},  {"idle", "213"},   {"frames", "123"}, {"frames/s", "213"},
      {"ttft", "123"}, {"tokens", "132"}, {"model", "123"},  {"endpoint", "213"}};
  for (const auto& [name, order] : expected) {
    EXPECT_EQ(TopModel::NameOf(model.column()), name);
    EXPECT_EQ(Order(model), order) << name;
    model.SortByNext();
  }
  EXPECT_EQ(model.column(), Column::kAge);
  model.Reverse();
  EXPECT_EQ(Order(model), "312");
}

TEST(TopModelTest, ComparesTwoSamplesForRates) {
  TopModel model;
  model.Add(SampleAt(std::chrono::seconds(0)));
  EXPECT_FALSE(model.accepted_per_second().has_value());
  EXPECT_FALSE(model.streams()[0].frames_per_second.has_value());

  TopSample second = SampleAt(std::chrono::seconds(2));
  second.status.set_accepted(107);
  second.exchanges.mutable_exchanges(1)->set_frames(150);
  v1::Exchange* began = second.exchanges.add_exchanges();
  began->set_id("x0000000100000004");
  began->set_endpoint("pools/chat/endpoints/b");
  began->set_frames(10);
  model.Add(std::move(second));
  EXPECT_EQ(model.accepted_per_second(), 3.5);
  EXPECT_EQ(model.streams()[0].frames_per_second, 25.0);
  EXPECT_EQ(model.streams()[1].frames_per_second, 0.0);
  EXPECT_EQ(model.endpoints()[0].frames_per_second, 25.0);
  EXPECT_EQ(model.endpoints()[1].frames_per_second, 5.0) << "of one that began between them";
  EXPECT_EQ(model.frames_per_second(), 30.0);

  TopSample restarted = SampleAt(std::chrono::seconds(4));
  restarted.status.set_boot_id("b2");
  restarted.status.set_accepted(1);
  model.Add(std::move(restarted));
  EXPECT_FALSE(model.accepted_per_second().has_value());
}

TEST(TopModelTest, KeepsTheSelectionWithItsStream) {
  TopModel model;
  EXPECT_EQ(model.selected_exchange(), nullptr);
  model.MoveSelection(1);
  model.Add(SampleAt(std::chrono::seconds(0)));
  EXPECT_EQ(model.selected_exchange()->model(), "alpha");
  model.Reverse();
  EXPECT_EQ(model.selected_exchange()->model(), "alpha");
  EXPECT_EQ(model.selected(), 2u);
  model.Add(SampleAt(std::chrono::seconds(1)));
  EXPECT_EQ(model.selected_exchange()->model(), "alpha");
  model.MoveSelection(-1);
  model.SetFilter("gamma");
  EXPECT_EQ(model.selected(), 0u);
  EXPECT_EQ(model.selected_exchange()->model(), "Gamma");
  model.SetFilter("nothing like it");
  EXPECT_EQ(model.selected_exchange(), nullptr);
  model.SetFilter("");
  model.MoveSelection(99);
  EXPECT_EQ(model.selected(), 2u);
  model.MoveSelection(-99);
  EXPECT_EQ(model.selected(), 0u);

  TopSample fewer = SampleAt(std::chrono::seconds(1));
  fewer.exchanges.mutable_exchanges()->RemoveLast();
  model.MoveSelection(99);
  model.Add(std::move(fewer));
  EXPECT_EQ(model.selected(), 1u);
}

TEST(TopModelTest, FiltersByWhatAStreamIsKnownBy) {
  TopModel model;
  model.Add(SampleAt(std::chrono::seconds(0)));
  const std::pair<const char*, const char*> kRows[] = {
      {"ALPHA", "2"}, {"chat/a", "21"}, {"alice", "1"}, {"hold", "3"}, {"00000003", "3"}};
  for (const auto& [filter, order] : kRows) {
    model.SetFilter(filter);
    EXPECT_EQ(Order(model), order) << filter;
  }
}

TEST(TopModelTest, StandsStillWhilePaused) {
  TopModel model;
  model.Add(SampleAt(std::chrono::seconds(0)));
  model.SetPaused(true);
  TopSample second = SampleAt(std::chrono::seconds(1));
  second.exchanges.clear_exchanges();
  model.Add(second);
  EXPECT_EQ(Order(model), "213");
  model.SetPaused(false);
  model.Add(second);
  EXPECT_EQ(Order(model), "");
}

class TopLayoutTest : public ::testing::Test {
 protected:
  TopLayoutTest() { model_.Add(SampleAt(std::chrono::seconds(0))); }

  std::vector<TopLine> LayOut(size_t height) {
    return LayOutTop(model_,
                     {.server = "h:1",
                      .now = absl::FromUnixSeconds(1767323045),
                      .zone = absl::UTCTimeZone(),
                      .notice = notice_},
                     height);
  }
  static std::string Text(const std::vector<TopLine>& lines) {
    return absl::StrJoin(lines, "\n", [](std::string* out, const TopLine& line) {
      absl::StrAppend(out, line.text);
    });
  }

  TopModel model_;
  std::string notice_;
};

TEST_F(TopLayoutTest, ShowsTheServerItsEndpointsAndItsStreams) {
  TopSample second = SampleAt(std::chrono::seconds(10));
  second.status.set_accepted(134);
  second.exchanges.mutable_exchanges(2)->set_frames(1300);
  model_.Add(std::move(second));
  model_.MoveSelection(1);
  notice_ = "cancelled 0000002f";
  const std::vector<TopLine> lines = LayOut(40);
  EXPECT_EQ(Text(lines),
            R"(sluice 0.1.0 at h:1, up 3h00m, at 03:04:05
3 in flight, 3.4 accepted/s, 110 frames/s; config 4; 2 watchers; ring 40% full; 1 drained
cancelled 0000002f
ENDPOINT  STATE     IN FLIGHT  ATTEMPTS  FAILED  FRAMES/S
chat/a    active            2        90       7       110
chat/b    draining          1        10       0       0.0

streams: 3, by age
ID        MODEL  ENDPOINT  PHASE     AGE   IDLE  FRAMES  FRAMES/S   TTFT  TOKENS
00000002  alpha  chat/a    relay  20.00s  5.00s     100       0.0  300ms       -
00000001  Gamma  chat/a    relay  10.00s   10ms    1300       110  900ms    5/20
00000003  beta   chat/b    hold    1.00s      -       0       0.0      -       -)");
  EXPECT_EQ(lines[2].style, TopLine::Style::kAlarm);
  EXPECT_EQ(lines[8].style, TopLine::Style::kHead);
  EXPECT_EQ(lines[10].style, TopLine::Style::kSelected);
  EXPECT_EQ(lines[11].style, TopLine::Style::kPlain);
}

TEST_F(TopLayoutTest, SaysThatTheServerDrains) {
  TopSample second = SampleAt(std::chrono::seconds(1));
  second.status.set_draining(true);
  model_.Add(std::move(second));
  EXPECT_THAT(LayOut(40)[1].text, ::testing::StartsWith("DRAINING; 3 in flight"));
}

TEST_F(TopLayoutTest, SaysWhatItDoesNotShow) {
  model_.SetFilter("ALPHA\x1b");
  EXPECT_THAT(Text(LayOut(40)), HasSubstr("streams: 0 of 3 with \"ALPHA\\x1b\", by age"));
  model_.SetFilter("");
  model_.Reverse();
  model_.SetPaused(true);
  EXPECT_THAT(Text(LayOut(40)), HasSubstr("streams: 3, by age, reversed"));
  EXPECT_THAT(LayOut(40)[0].text, EndsWith(", PAUSED"));
  model_.SetPaused(false);
  TopSample many = SampleAt(std::chrono::seconds(1));
  many.exchanges.set_total_size(5000);
  model_.Add(std::move(many));
  EXPECT_THAT(Text(LayOut(40)), HasSubstr("streams: 3, the latest 3 of 5000, by age"));
}

TEST_F(TopLayoutTest, TurnsThePageToTheSelectedStream) {
  TopSample many = SampleAt(std::chrono::seconds(1));
  many.exchanges.clear_exchanges();
  for (int i = 0; i < 30; ++i) {
    v1::Exchange* exchange = many.exchanges.add_exchanges();
    exchange->set_id(absl::StrCat("x00000001000000", 10 + i));
    exchange->mutable_age()->set_seconds(100 - i);
  }
  model_.Add(std::move(many));
  model_.MoveSelection(-99);
  std::vector<TopLine> lines = LayOut(19);  // of which 10 are for streams
  ASSERT_EQ(lines.size(), 19u);
  EXPECT_THAT(lines[9].text, StartsWith("00000010"));
  EXPECT_EQ(lines[9].style, TopLine::Style::kSelected);
  EXPECT_THAT(lines[18].text, StartsWith("00000019"));
  model_.MoveSelection(12);
  lines = LayOut(19);
  EXPECT_THAT(lines[9].text, StartsWith("00000020"));
  EXPECT_EQ(lines[11].style, TopLine::Style::kSelected);
}

TEST_F(TopLayoutTest, LeavesMostOfTheRoomToTheStreams) {
  TopSample many = SampleAt(std::chrono::seconds(1));
  for (int i = 0; i < 98; ++i) *many.endpoints.add_endpoints() = many.endpoints.endpoints(0);
  model_.Add(std::move(many));
  const std::string text = Text(LayOut(30));
  EXPECT_THAT(text, HasSubstr("and 91 more: see `sluicectl endpoint list`"));
  EXPECT_THAT(text, HasSubstr("00000003"));
}

TEST_F(TopLayoutTest, FitsAnyHeight) {
  for (size_t height = 0; height < 15; ++height) EXPECT_LE(LayOut(height).size(), height);
  EXPECT_THAT(LayOutTop(TopModel(), {}, 10), IsEmpty());
}

}  // namespace
}  // namespace sluice::admin
