#include "lib/ledger/usage_totals.h"

#include <limits>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/ledger/finished_exchange.h"

namespace sluice::ledger {
namespace {

using ::testing::ElementsAre;
using testing::Facts;
using testing::FinishedExchange;
using ::testing::SizeIs;

constexpr UsageGrouping kByAll = {.principal = true, .model = true, .pool = true, .endpoint = true};

using Names = std::tuple<std::string, std::string, std::string, std::string>;

Names NamesOf(const UsageNames& names) {
  return {std::string(names.principal), std::string(names.model), std::string(names.pool),
          std::string(names.endpoint)};
}

std::map<Names, UsageSums> RowsOf(const UsageTotals::Reading& reading) {
  std::map<Names, UsageSums> rows;
  for (const UsageTotals::Row& row : reading.rows) {
    EXPECT_TRUE(rows.emplace(NamesOf(row.names), row.sums).second) << "a row comes twice";
  }
  return rows;
}

Usage TotalOf(int64_t tokens) {
  Usage usage;
  usage.total_tokens = tokens;
  return usage;
}

UsageGrouping GroupingOf(unsigned bits) {
  return {.principal = (bits & 1) != 0,
          .model = (bits & 2) != 0,
          .pool = (bits & 4) != 0,
          .endpoint = (bits & 8) != 0};
}

class RandomExchanges {
 public:
  explicit RandomExchanges(unsigned seed) : random_(seed) {}

  std::shared_ptr<Exchange> Next() {
    Facts facts;
    facts.principal = absl::StrCat("p", Below(4));
    facts.model = absl::StrCat("m", Below(30));
    facts.pool = Below(10) == 0 ? "" : absl::StrCat("pool", Below(3));
    if (facts.pool.empty() || Below(10) == 0) {
      facts.endpoint = "";
    } else {
      facts.endpoint = absl::StrCat("pools/", facts.pool, "/endpoints/", Below(3));
    }
    facts.cause = Below(3) == 0 ? Cause::kTruncated : Cause::kCompleted;
    if (Below(4) != 0) {
      Usage usage;
      usage.prompt_tokens = Below(1000);
      usage.completion_tokens = Below(1000);
      usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
      if (Below(2) == 0) usage.cached_tokens = Below(100);
      if (Below(2) == 0) usage.reasoning_tokens = Below(100);
      facts.usage = usage;
    }
    return FinishedExchange(facts);
  }

 private:
  int64_t Below(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(random_);
  }
  std::mt19937 random_;
};

// The sums of events, made here the plain way, are those of the totals, whatever they are told
// apart by.
TEST(UsageTotalsTest, SumsUpWhatFinishedInEveryGrouping) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    RandomExchanges exchanges(seed);
    UsageTotals totals;
    std::map<Names, UsageSums> expected[16];
    for (int i = 0; i < 500; ++i) {
      const auto x = exchanges.Next();
      totals.OnFinished(*x);
      for (unsigned bits = 0; bits < 16; ++bits) {
        UsageSums& sums = expected[bits][{
            (bits & 1) ? x->info().principal : "", (bits & 2) ? x->info().model : "",
            (bits & 4) ? x->info().pool : "", (bits & 8) ? x->attempts.back().endpoint : ""}];
        sums.exchanges += 1;
        sums.completed += x->cause == Cause::kCompleted;
        sums.reported += x->usage.has_value();
        sums.unknown += !x->usage.has_value();
        const Usage usage = x->usage.value_or(Usage());
        sums.prompt_tokens += usage.prompt_tokens;
        sums.completion_tokens += usage.completion_tokens;
        sums.total_tokens += usage.total_tokens;
        sums.cached_tokens += usage.cached_tokens.value_or(0);
        sums.reasoning_tokens += usage.reasoning_tokens.value_or(0);
      }
    }
    for (unsigned bits = 0; bits < 16; ++bits) {
      const UsageTotals::Reading reading = totals.Read(GroupingOf(bits));
      EXPECT_EQ(reading.folded, 0u);
      EXPECT_EQ(RowsOf(reading), expected[bits]) << "seed " << seed << ", grouping " << bits;
    }
  }
}

TEST(UsageTotalsTest, CountsWhatWasReportedInPartAndWhatNobodyReported) {
  const auto partial = FinishedExchange({.cause = Cause::kClientGone, .usage = TotalOf(5)});
  partial->provenance = Provenance::kPartial;
  EXPECT_EQ(SumsOf(*partial).partial, 1);
  EXPECT_EQ(SumsOf(*partial).unknown, 0);
  EXPECT_EQ(SumsOf(*FinishedExchange({.usage = TotalOf(5)})).partial, 0);

  const auto left = FinishedExchange({.cause = Cause::kClientGone});
  for (const auto& [status, unknown] :
       {std::pair(0, 1), std::pair(200, 1), std::pair(400, 0), std::pair(503, 0)}) {
    left->http_status = status;
    EXPECT_EQ(SumsOf(*left).unknown, unknown) << status;
    EXPECT_EQ(SumsOf(*left).reported, 0);
  }
  left->http_status = 200;
  left->attempts.clear();
  EXPECT_EQ(SumsOf(*left).unknown, 0) << "no upstream was asked";
  EXPECT_EQ(SumsOf(*FinishedExchange({.model = ""})).unknown, 0) << "nothing has tokens";
}

TEST(UsageTotalsTest, LeavesNothingOutWhenNamesAreTooMany) {
  for (const size_t max_rows : {1, 3, 10, 40, 200}) {
    RandomExchanges exchanges(7);
    UsageTotals totals(max_rows);
    UsageSums expected;
    for (int i = 0; i < 2000; ++i) {
      const auto x = exchanges.Next();
      totals.OnFinished(*x);
      expected.Add(SumsOf(*x));
    }
    for (unsigned bits = 0; bits < 16; ++bits) {
      UsageSums sum;
      for (const auto& row : totals.Read(GroupingOf(bits)).rows) sum.Add(row.sums);
      EXPECT_EQ(sum, expected) << max_rows << " rows, grouping " << bits;
    }
    const UsageTotals::Reading reading = totals.Read(kByAll);
    EXPECT_LE(reading.rows.size(), max_rows + 2 * std::max<size_t>(1, max_rows / 10) + 1);
    int64_t named_other = 0;
    for (const auto& row : reading.rows) {
      if (row.names.model == kOtherName) named_other += row.sums.exchanges;
    }
    EXPECT_EQ(named_other, static_cast<int64_t>(reading.folded));
    EXPECT_GT(reading.folded, 0u);
  }
}

TEST(UsageTotalsTest, WhoInventsNamesTakesNoRowsOfOthers) {
  UsageTotals totals(100);
  for (int i = 0; i < 1000; ++i) {
    totals.OnFinished(*FinishedExchange({.principal = "mallory", .model = absl::StrCat("m", i)}));
  }
  totals.OnFinished(*FinishedExchange({.principal = "alice", .model = "good"}));
  const UsageTotals::Reading reading = totals.Read(kByAll);
  EXPECT_EQ(reading.folded, 990u);
  EXPECT_THAT(reading.rows, SizeIs(12));
  const auto rows = RowsOf(reading);
  const std::string endpoint = "pools/chat/endpoints/a";
  EXPECT_EQ(rows.at({"alice", "good", "chat", endpoint}).exchanges, 1);
  EXPECT_EQ(rows.at({"mallory", "(other)", "chat", endpoint}).exchanges, 990);
}

TEST(UsageTotalsTest, GoesOnWithARowThatWasThereBeforeTheyWereTooMany) {
  UsageTotals totals(1);
  totals.OnFinished(*FinishedExchange({.model = "first"}));
  totals.OnFinished(*FinishedExchange({.model = "second"}));
  totals.OnFinished(*FinishedExchange({.model = "first"}));
  const auto rows = RowsOf(totals.Read({.model = true}));
  EXPECT_EQ(rows.at({"", "first", "", ""}).exchanges, 2);
  EXPECT_EQ(rows.at({"", "(other)", "", ""}).exchanges, 1);
}

TEST(UsageTotalsTest, GivesUpTheNameOfTheModelThenOfThePrincipalThenAll) {
  UsageTotals totals(1);
  for (const char* principal : {"a", "b", "c", "d"}) {
    totals.OnFinished(*FinishedExchange({.principal = principal, .pool = principal}));
  }
  std::vector<Names> names;
  for (const auto& [row, sums] :
       RowsOf(totals.Read({.principal = true, .model = true, .pool = true, .endpoint = false}))) {
    names.push_back(row);
  }
  EXPECT_THAT(names, ElementsAre(Names("(other)", "(other)", "(other)", ""),
                                 Names("(other)", "(other)", "c", ""), Names("a", "m", "a", ""),
                                 Names("b", "(other)", "b", "")));
}

TEST(UsageTotalsTest, KeepsNoNameThatIsTooLong) {
  UsageTotals totals;
  const std::string longest(UsageTotals::kMaxModelBytes, 'x');
  totals.OnFinished(*FinishedExchange({.model = longest}));
  totals.OnFinished(*FinishedExchange({.model = longest + "y"}));
  const UsageTotals::Reading reading = totals.Read({.model = true});
  EXPECT_EQ(reading.folded, 1u);
  EXPECT_EQ(RowsOf(reading).count({"", longest, "", ""}), 1u);
  EXPECT_EQ(RowsOf(reading).count({"", "(other)", "", ""}), 1u);
}

TEST(UsageTotalsTest, ListsTheRowWithTheMostTokensFirst) {
  UsageTotals totals;
  totals.OnFinished(*FinishedExchange({.model = "none"}));
  totals.OnFinished(*FinishedExchange({.model = "few", .usage = TotalOf(3)}));
  totals.OnFinished(*FinishedExchange({.model = "many", .usage = TotalOf(5)}));
  std::vector<std::string> models;
  for (const auto& row : totals.Read({.model = true}).rows) models.emplace_back(row.names.model);
  EXPECT_THAT(models, ElementsAre("many", "few", "none"));
}

TEST(UsageTotalsTest, StaysAtTheLargestNumberWhenUpstreamsReportTooMuch) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  UsageTotals totals;
  for (int i = 0; i < 3; ++i) {
    totals.OnFinished(*FinishedExchange({.usage = TotalOf(kMost - 1)}));
  }
  EXPECT_EQ(totals.Read({}).rows[0].sums.total_tokens, kMost);
  EXPECT_EQ(totals.Read({}).rows[0].sums.exchanges, 3);
}

TEST(UsageTotalsTest, HasNoRowsBeforeAnythingFinished) {
  EXPECT_THAT(UsageTotals().Read({}).rows, SizeIs(0));
}

TEST(UsageTotalsTest, CountsWhatManyThreadsFinish) {
  UsageTotals totals;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&totals, t] {
      for (int i = 0; i < 1000; ++i) {
        totals.OnFinished(*FinishedExchange({.model = absl::StrCat("m", (t + i) % 7)}));
        if (i % 100 == 0) totals.Read(kByAll);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(totals.Read({}).rows[0].sums.exchanges, 4000);
}

}  // namespace
}  // namespace sluice::ledger
