#include "server/event_convert.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "server/endpoint_convert.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using std::chrono::milliseconds;

std::shared_ptr<ExchangeInfo> Info() {
  auto info = std::make_shared<ExchangeInfo>();
  info->id = {0x5f3a09c100000001};
  info->request_id = "req-1";
  info->client_address = "127.0.0.1:54321";
  info->method = "POST";
  info->path = "/v1/chat/completions";
  info->model = "gpt-4";
  info->pool = "chat";
  info->dialect = "openai.chat";
  info->stream = true;
  info->config_generation = 3;
  return info;
}

events::Event EventOf(events::What what) {
  events::Event event;
  event.sequence = 9;
  event.time = absl::FromUnixMillis(1500);
  event.subject = std::make_shared<const Subject>(Subject{
      .exchange = Info(), .endpoint = "pools/chat/endpoints/a", .key_id = "k", .attempt = 2});
  event.since_start = milliseconds(500);
  event.what = std::move(what);
  return event;
}

pb::Event Converted(events::What what) {
  pb::Event proto;
  ToProto(EventOf(std::move(what)), &proto);
  return proto;
}

TEST(EventConvertTest, WalksEveryCause) {
  EXPECT_EQ(static_cast<int>(AllCauses().size()) + 1, pb::Cause_descriptor()->value_count());
  int number = 0;
  for (const CauseInfo& info : AllCauses()) {
    const pb::Cause proto = ToProto(info.cause);
    EXPECT_EQ(proto, ++number) << info.label;
    EXPECT_EQ(pb::Cause_Name(proto), absl::StrCat("CAUSE_", absl::AsciiStrToUpper(info.label)));
    EXPECT_EQ(FromProto(proto), info.cause);
  }
  EXPECT_EQ(FromProto(pb::CAUSE_UNSPECIFIED), std::nullopt);
  EXPECT_EQ(FromProto(static_cast<pb::Cause>(number + 1)), std::nullopt);
}

TEST(EventConvertTest, TellsWhoseEventItIs) {
  const pb::Event proto = Converted(events::FirstByte{200});
  EXPECT_EQ(proto.sequence(), 9);
  EXPECT_EQ(proto.time().seconds(), 1);
  EXPECT_EQ(proto.time().nanos(), 500'000'000);
  EXPECT_EQ(proto.exchange(), "x5f3a09c100000001");
  EXPECT_EQ(proto.request_id(), "req-1");
  EXPECT_EQ(proto.model(), "gpt-4");
  EXPECT_EQ(proto.pool(), "chat");
  EXPECT_EQ(proto.endpoint(), "pools/chat/endpoints/a");
  EXPECT_EQ(proto.attempt(), 2);
  EXPECT_EQ(proto.since_start().nanos(), 500'000'000);
}

TEST(EventConvertTest, FillsTheKindThatHappened) {
  EXPECT_EQ(Converted(events::ExchangeStarted{}).exchange_started().path(), "/v1/chat/completions");
  EXPECT_EQ(Converted(events::ExchangeStarted{}).exchange_started().config_generation(), 3);
  EXPECT_EQ(Converted(events::AttemptStarted{}).attempt_started().key_id(), "k");
  const pb::Event failed = Converted(std::make_shared<const events::AttemptFailed>(
      events::AttemptFailed{Cause::kConnectFailed, 0, "connection refused"}));
  EXPECT_EQ(failed.attempt_failed().cause(), pb::CAUSE_CONNECT_FAILED);
  EXPECT_EQ(failed.attempt_failed().detail(), "connection refused");
  EXPECT_EQ(Converted(events::FirstByte{200}).first_byte().http_status(), 200);
  EXPECT_EQ(Converted(events::FirstFrame{1}).first_frame().index(), 1);
  const pb::Event chunk = Converted(events::Chunk{4, 163, milliseconds(20)});
  EXPECT_EQ(chunk.chunk().index(), 4);
  EXPECT_EQ(chunk.chunk().size_bytes(), 163);
  EXPECT_EQ(chunk.chunk().gap().nanos(), 20'000'000);
  const pb::Event changed =
      Converted(std::make_shared<const events::ConfigChanged>(events::ConfigChanged{5, "etag"}));
  EXPECT_EQ(changed.config_changed().generation(), 5);
  EXPECT_EQ(changed.config_changed().etag(), "etag");
}

TEST(EventConvertTest, KeepsAbsentTokenCountsAbsentAndZerosPresent) {
  Usage usage{5, 2, 7, 0, {}};
  const pb::Event proto =
      Converted(std::make_shared<const events::UsageReported>(events::UsageReported{usage}));
  EXPECT_EQ(proto.usage().prompt_tokens(), 5);
  EXPECT_EQ(proto.usage().completion_tokens(), 2);
  EXPECT_EQ(proto.usage().total_tokens(), 7);
  EXPECT_TRUE(proto.usage().has_cached_tokens());
  EXPECT_FALSE(proto.usage().has_reasoning_tokens());
}

TEST(EventConvertTest, SumsUpAFinishedExchange) {
  Exchange finished;
  finished.cause = Cause::kCompleted;
  finished.http_status = 200;
  finished.attempts.resize(2);
  finished.stamps.first_frame = finished.stamps.accepted + milliseconds(30);
  finished.bytes_from_upstream = 700;
  finished.bytes_to_client = 628;
  finished.frames = 5;
  finished.usage = Usage{5, 2, 7, {}, {}};
  finished.provenance = Provenance::kReported;
  finished.finish_reason = "stop";
  finished.largest_gap = milliseconds(40);
  finished.largest_gap_by_client = true;
  finished.digest_from_upstream = 0x12ab;
  finished.valid_frames_only = true;
  finished.dropped_bytes = 72;
  finished.dropped_stretches = 3;
  finished.cancel_latency = milliseconds(9);
  finished.attempts.back().key_id = "k1";
  const pb::Event event = Converted(std::make_shared<const Exchange>(std::move(finished)));
  const pb::ExchangeFinished& proto = event.exchange_finished();
  EXPECT_EQ(proto.cause(), pb::CAUSE_COMPLETED);
  EXPECT_EQ(proto.http_status(), 200);
  EXPECT_EQ(proto.attempts(), 2);
  EXPECT_EQ(proto.timings().first_frame().nanos(), 30'000'000);
  EXPECT_FALSE(proto.timings().has_first_byte());
  EXPECT_EQ(proto.upstream_bytes(), 700);
  EXPECT_EQ(proto.client_bytes(), 628);
  EXPECT_EQ(proto.frames(), 5);
  EXPECT_EQ(proto.usage().total_tokens(), 7);
  EXPECT_EQ(proto.usage_provenance(), pb::USAGE_PROVENANCE_REPORTED);
  EXPECT_EQ(proto.finish_reason(), "stop");
  EXPECT_EQ(proto.largest_gap().nanos(), 40'000'000);
  EXPECT_TRUE(proto.largest_gap_by_client());
  EXPECT_EQ(proto.upstream_digest(), "00000000000012ab");
  EXPECT_EQ(proto.client_digest(), "");
  EXPECT_TRUE(proto.valid_frames_only());
  EXPECT_EQ(proto.dropped_bytes(), 72);
  EXPECT_EQ(proto.dropped_stretches(), 3);
  EXPECT_EQ(proto.cancel_latency().nanos(), 9'000'000);
  EXPECT_EQ(proto.key_id(), "k1");
}

TEST(EventConvertTest, MakesTextOfPeersValidAndShort) {
  events::Event event = EventOf(events::ExchangeStarted{});
  auto info = Info();
  info->model = "\xFF" + std::string(1 << 20, 'm');
  info->path = std::string(1 << 20, 'p');
  event.subject = std::make_shared<const Subject>(Subject{.exchange = info});
  pb::Event proto;
  ToProto(event, &proto);
  EXPECT_LE(proto.ByteSizeLong(), 4096u);
  pb::Event parsed;
  EXPECT_TRUE(parsed.ParseFromString(proto.SerializeAsString()));
}

TEST(EventConvertTest, TakesAnEventWithoutExchange) {
  events::Event event;
  event.what = std::make_shared<const events::ConfigChanged>();
  pb::Event proto;
  ToProto(event, &proto);
  EXPECT_EQ(proto.exchange(), "");
  EXPECT_FALSE(proto.has_since_start());
  for (const events::What& what :
       {events::What(events::ExchangeStarted{}), events::What(events::AttemptStarted{})}) {
    event.what = what;
    ToProto(event, &proto);
  }
}

TEST(EventConvertTest, TellsWhereAStateHasChanged) {
  pb::Event endpoint;
  ToProto(
      events::EventOfGateway(absl::FromUnixSeconds(5),
                             EndpointStateChanged{.pool = "chat",
                                                  .endpoint = "pools/chat/endpoints/a",
                                                  .state = EndpointStateChanged::State::kDraining,
                                                  .detail = "by \xFF"}),
      &endpoint);
  EXPECT_EQ(endpoint.time().seconds(), 5);
  EXPECT_EQ(endpoint.exchange(), "");
  EXPECT_EQ(endpoint.pool(), "chat");
  EXPECT_EQ(endpoint.endpoint(), "pools/chat/endpoints/a");
  EXPECT_EQ(endpoint.endpoint_state_changed().state(), pb::EndpointStatus::STATE_DRAINING);
  EXPECT_EQ(endpoint.endpoint_state_changed().detail(), "by \xEF\xBF\xBD");
  EXPECT_FALSE(endpoint.endpoint_state_changed().has_until());

  EndpointStateChanged ejection{.pool = "chat",
                                .endpoint = "pools/chat/endpoints/a",
                                .state = EndpointStateChanged::State::kEjected,
                                .until = absl::FromUnixSeconds(7)};
  EXPECT_EQ(Converted(std::make_shared<const EndpointStateChanged>(ejection))
                .endpoint_state_changed()
                .until()
                .seconds(),
            7);
  ejection.until = absl::InfiniteFuture();
  EXPECT_FALSE(Converted(std::make_shared<const EndpointStateChanged>(ejection))
                   .endpoint_state_changed()
                   .has_until())
      << "nobody knows when its probes succeed";

  pb::Event key;
  KeyStateChanged change{.pool = "chat",
                         .key_id = "k1",
                         .state = KeyStateChanged::State::kResting,
                         .until = absl::FromUnixSeconds(9)};
  ToProto(events::EventOfGateway(absl::FromUnixSeconds(5), change), &key);
  EXPECT_EQ(key.pool(), "chat");
  EXPECT_EQ(key.endpoint(), "");
  EXPECT_EQ(key.key_state_changed().key_id(), "k1");
  EXPECT_EQ(key.key_state_changed().state(), pb::KeyStatus::STATE_RESTING);
  EXPECT_EQ(key.key_state_changed().until().seconds(), 9);
  change.state = KeyStateChanged::State::kRefused;
  key.Clear();
  ToProto(events::EventOfGateway(absl::FromUnixSeconds(5), change), &key);
  EXPECT_EQ(key.key_state_changed().state(), pb::KeyStatus::STATE_REFUSED);
  EXPECT_FALSE(key.key_state_changed().has_until());
}

TEST(EventConvertTest, WalksEveryState) {
  const EndpointStateChanged::State endpoint_states[] = {EndpointStateChanged::State::kActive,
                                                         EndpointStateChanged::State::kDraining,
                                                         EndpointStateChanged::State::kRemoved};
  for (const EndpointStateChanged::State state : endpoint_states) {
    EXPECT_EQ(ToProto(state), static_cast<int>(state) + 1);
  }
  for (int i = 0; i < 4; ++i) {
    KeyStateChanged change;
    change.state = static_cast<KeyStateChanged::State>(i);
    const pb::Event event = Converted(std::make_shared<const KeyStateChanged>(change));
    EXPECT_EQ(event.key_state_changed().state(), i + 1);
  }
}

/// EventKind, Event.kind and events::Kind name the same things in the same order.
TEST(EventConvertTest, WalksEveryKind) {
  const auto* oneof = pb::Event::descriptor()->FindOneofByName("kind");
  ASSERT_EQ(oneof->field_count(), events::kKinds);
  ASSERT_EQ(pb::EventKind_descriptor()->value_count(), events::kKinds + 1);
  const events::What whats[] = {
      events::ExchangeStarted{},
      events::AttemptStarted{},
      std::make_shared<const events::AttemptFailed>(),
      events::FirstByte{},
      events::FirstFrame{},
      events::Chunk{},
      std::make_shared<const events::UsageReported>(),
      std::make_shared<const Exchange>(),
      std::make_shared<const events::ConfigChanged>(),
      std::make_shared<const EndpointStateChanged>(),
      std::make_shared<const KeyStateChanged>(),
  };
  for (int i = 0; i < events::kKinds; ++i) {
    const std::string name = oneof->field(i)->name();
    EXPECT_EQ(pb::EventKind_Name(i + 1), absl::StrCat("EVENT_KIND_", absl::AsciiStrToUpper(name)));
    EXPECT_EQ(Converted(whats[i]).kind_case(), oneof->field(i)->number()) << name;
    pb::EventFilter filter;
    filter.add_kinds(static_cast<pb::EventKind>(i + 1));
    EXPECT_TRUE(FromProto(filter)->Matches(EventOf(whats[i]))) << name;
  }
}

TEST(EventConvertTest, ConvertsFilters) {
  pb::EventFilter proto;
  proto.add_models("m");
  proto.add_principals("w");
  proto.add_pools("p");
  proto.add_endpoints("e");
  proto.add_exchanges("x5f3a09c100000001");
  proto.add_causes(pb::CAUSE_DRAINED);
  const auto filter = FromProto(proto);
  ASSERT_TRUE(filter.ok()) << filter.status();
  EXPECT_EQ(filter->models, std::vector<std::string>{"m"});
  EXPECT_EQ(filter->principals, std::vector<std::string>{"w"});
  EXPECT_EQ(filter->pools, std::vector<std::string>{"p"});
  EXPECT_EQ(filter->endpoints, std::vector<std::string>{"e"});
  EXPECT_EQ(filter->exchanges, std::vector<ExchangeId>{ExchangeId{0x5f3a09c100000001}});
  EXPECT_EQ(filter->causes, std::vector<Cause>{Cause::kDrained});
}

TEST(EventConvertTest, RefusesFiltersThatCanMatchNothing) {
  const auto code = [](auto change) {
    pb::EventFilter proto;
    change(proto);
    return FromProto(proto).status().code();
  };
  using absl::StatusCode;
  EXPECT_EQ(code([](auto& f) { f.add_kinds(pb::EVENT_KIND_UNSPECIFIED); }),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& f) { f.add_kinds(static_cast<pb::EventKind>(99)); }),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& f) { f.add_causes(pb::CAUSE_UNSPECIFIED); }),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](auto& f) { f.add_exchanges("17"); }), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sluice::server
