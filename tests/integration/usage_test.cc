// What was used, as operators are told: the sums, the events and the ledger say the same.

#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "rapidjson/document.h"

#include "tests/integration/steer_fixture.h"
#include "tests/support/temp_dir.h"

namespace sluice::testing {
namespace {

/// By principal, model, pool and endpoint.
using Names = std::tuple<std::string, std::string, std::string, std::string>;

struct Sums {
  int64_t exchanges = 0;
  int64_t completed = 0;
  int64_t reported = 0;
  int64_t partial = 0;
  int64_t unknown = 0;
  int64_t prompt = 0;
  int64_t completion = 0;
  int64_t total = 0;
  int64_t cached = 0;
  int64_t reasoning = 0;

  void Add(const Sums& more) {
    exchanges += more.exchanges;
    completed += more.completed;
    reported += more.reported;
    partial += more.partial;
    unknown += more.unknown;
    prompt += more.prompt;
    completion += more.completion;
    total += more.total;
    cached += more.cached;
    reasoning += more.reasoning;
  }
  friend bool operator==(const Sums&, const Sums&) = default;
  friend void PrintTo(const Sums& sums, std::ostream* out) {
    *out << sums.exchanges << " exchanges, " << sums.completed << " completed, " << sums.reported
         << " reported (" << sums.partial << " in part), " << sums.unknown << " unknown, tokens "
         << sums.prompt << "/" << sums.completion << "/" << sums.total;
  }
};
using Table = std::map<Names, Sums>;

constexpr unsigned kGroupings = 16;  // a bit for each dimension

Table GroupedBy(unsigned grouping, const Table& all) {
  Table grouped;
  for (const auto& [names, sums] : all) {
    auto [principal, model, pool, endpoint] = names;
    if ((grouping & 1) == 0) principal.clear();
    if ((grouping & 2) == 0) model.clear();
    if ((grouping & 4) == 0) pool.clear();
    if ((grouping & 8) == 0) endpoint.clear();
    grouped[{principal, model, pool, endpoint}].Add(sums);
  }
  return grouped;
}

Sums SumsOf(const pb::ExchangeFinished& finished) {
  const pb::Usage& usage = finished.usage();
  return {
      .exchanges = 1,
      .completed = finished.cause() == pb::CAUSE_COMPLETED ? 1 : 0,
      .reported = finished.has_usage() ? 1 : 0,
      .partial = finished.usage_provenance() == pb::USAGE_PROVENANCE_PARTIAL ? 1 : 0,
      .unknown =
          !finished.has_usage() && finished.attempts() > 0 && finished.http_status() < 400 ? 1 : 0,
      .prompt = usage.prompt_tokens(),
      .completion = usage.completion_tokens(),
      .total = usage.total_tokens(),
      .cached = usage.cached_tokens(),
      .reasoning = usage.reasoning_tokens()};
}

class UsageTest : public SteerTest {
 protected:
  /// Two pools, each for models of its own.
  void StartTwoPools() {
    engine_ = StartEngine();
    second_ = StartEngine();
    config::Config config = ConfigFor(engine_->uri());
    config.pools.push_back(config.pools[0]);
    config.pools[1].id = "more";
    config.pools[1].endpoints = {{"b", second_->uri()}};
    config.routes.clear();
    for (const auto& [model, pool] :
         {std::pair("m1", "chat"), std::pair("m2", "chat"), std::pair("m3", "more")}) {
      config::Route& route = config.routes.emplace_back();
      route.model = model;
      route.pool = pool;
    }
    ledger_ = directory_.path() + "/ledger.jsonl";
    StartGateway(std::move(config));
    StartStubs();
  }

  void Ask(const std::string& model, bool stream = true) {
    RawClient client = Connect();
    EXPECT_TRUE(client
                    .Send(PostRequest("/v1/chat/completions",
                                      absl::StrCat(R"({"model":")", model, R"(","stream":)",
                                                   stream ? "true" : "false", R"(,"messages":[]})"),
                                      ""))
                    .ok());
    client.ReadResponse().IgnoreError();
  }

  /// A client that has the first bytes of a stream, and leaves.
  void AskAndLeave(const std::string& model) {
    RawClient client = Connect();
    const std::string body = absl::StrCat(R"({"model":")", model, R"(","stream":true})");
    EXPECT_TRUE(client.Send(PostRequest("/v1/chat/completions", body, "")).ok());
    EXPECT_TRUE(client.ReadHead().ok());
    EXPECT_TRUE(client.ReadBytes(1).ok());
    client.Close();
  }

  /// What the events say, once `count` exchanges have finished.
  Table ReadEvents(int count) {
    grpc::ClientContext context;
    pb::WatchEventsRequest request;
    request.set_tail(1'000'000);
    request.set_follow(true);
    const auto watch = observer_->WatchEvents(&context, request);
    std::map<std::string, std::string> principals;  // by exchange
    Table table;
    pb::WatchEventsResponse response;
    while (count > 0 && watch->Read(&response)) {
      for (const pb::Event& event : response.events()) {
        if (event.has_exchange_started()) {
          principals[event.exchange()] = event.exchange_started().principal();
        }
        if (!event.has_exchange_finished()) continue;
        table[{principals[event.exchange()], event.model(), event.pool(), event.endpoint()}].Add(
            SumsOf(event.exchange_finished()));
        --count;
      }
    }
    context.TryCancel();
    return table;
  }

  Table GetUsage(unsigned grouping) {
    pb::GetUsageRequest request;
    for (int bit = 0; bit < 4; ++bit) {
      if ((grouping >> bit) & 1) {
        request.add_group_by(static_cast<pb::GetUsageRequest::Dimension>(bit + 1));
      }
    }
    grpc::ClientContext context;
    pb::GetUsageResponse response;
    const grpc::Status status = observer_->GetUsage(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.folded(), 0);
    Table table;
    for (const pb::UsageTotal& total : response.totals()) {
      const Sums sums = {.exchanges = total.exchanges(),
                         .completed = total.completed(),
                         .reported = total.reported(),
                         .partial = total.partial(),
                         .unknown = total.unknown(),
                         .prompt = total.prompt_tokens(),
                         .completion = total.completion_tokens(),
                         .total = total.total_tokens(),
                         .cached = total.cached_tokens(),
                         .reasoning = total.reasoning_tokens()};
      const Names names = {total.principal(), total.model(), total.pool(), total.endpoint()};
      EXPECT_TRUE(table.emplace(names, sums).second) << "a sum comes twice";
    }
    return table;
  }

  /// What the ledger says, whose lines must be JSON.
  Table ReadLedger() {
    Table table;
    std::ifstream file(ledger_);
    for (std::string line; std::getline(file, line);) {
      rapidjson::Document json;
      json.Parse(line.c_str());
      EXPECT_TRUE(!json.HasParseError() && json.IsObject()) << line;
      if (!json.IsObject()) continue;
      const auto text = [&json](const char* name) { return std::string(json[name].GetString()); };
      const auto number = [&json](const char* name) {
        return json.HasMember(name) ? json[name].GetInt64() : 0;
      };
      table[{text("principal"), text("model"), text("pool"), text("endpoint")}].Add(
          {.exchanges = 1,
           .completed = text("cause") == "completed" ? 1 : 0,
           .reported = text("usage") != "absent" ? 1 : 0,
           .partial = text("usage") == "partial" ? 1 : 0,
           .unknown =
               text("usage") == "absent" && number("attempts") > 0 && number("http_status") < 400
                   ? 1
                   : 0,
           .prompt = number("prompt_tokens"),
           .completion = number("completion_tokens"),
           .total = number("total_tokens"),
           .cached = number("cached_tokens"),
           .reasoning = number("reasoning_tokens")});
    }
    return table;
  }

  const TempDirectory directory_;
  std::unique_ptr<ScriptedEngine> second_;
};

TEST_F(UsageTest, IsTheSameByEventsByTheCallAndByTheLedger) {
  StartTwoPools();
  engine_->Enqueue(Script()
                       .SseHead()
                       .Chunk(ContentEvent("a"))
                       .Chunk(UsageEvent(5, 2))
                       .Chunk(kDoneEvent)
                       .LastChunk());
  Ask("m1");
  engine_->Enqueue(Script().SseHead().Chunk(ContentEvent("a")).Chunk(UsageEvent(7, 1)).Fin());
  Ask("m1");
  engine_->Enqueue(
      Script().Json(R"({"id":"t","choices":[],"usage":{"prompt_tokens":30,"completion_tokens":4,)"
                    R"("total_tokens":34,"prompt_tokens_details":{"cached_tokens":20},)"
                    R"("completion_tokens_details":{"reasoning_tokens":3}}})"));
  Ask("m2", false);
  second_->Enqueue(Script().SseHead().Chunk(ContentEvent("a")).Chunk(kDoneEvent).LastChunk());
  Ask("m3");
  second_->Enqueue(Script().Json("{}", "400 Bad Request"));
  Ask("m3", false);
  Ask("nobody serves this");
  // Clients that leave before the last chunk, which would have had the tokens: in part, not at all.
  engine_->Enqueue(Script().SseHead().Chunk(UsageEvent(3, 1)).Chunk(ContentEvent("a")).Hold());
  AskAndLeave("m1");
  engine_->Enqueue(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  AskAndLeave("m1");

  const Table events = ReadEvents(8);
  EXPECT_EQ(events.size(), 4u);
  for (unsigned grouping = 0; grouping < kGroupings; ++grouping) {
    EXPECT_EQ(GetUsage(grouping), GroupedBy(grouping, events)) << "grouping " << grouping;
  }
  const Sums all = GetUsage(0)[{}];
  EXPECT_EQ(all.exchanges, 8);
  EXPECT_EQ(all.reported, 4);
  EXPECT_EQ(all.partial, 2);
  EXPECT_EQ(all.unknown, 2);
  EXPECT_EQ(all.total, 7 + 8 + 34 + 4);
  EXPECT_EQ(all.cached, 20);
  EXPECT_EQ(all.reasoning, 3);
  gateway_ = nullptr;  // writes the rest of the ledger
  EXPECT_EQ(ReadLedger(), events);
}

}  // namespace
}  // namespace sluice::testing
