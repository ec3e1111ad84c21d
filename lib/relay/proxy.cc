#include "lib/relay/proxy.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

#include "lib/base/ids.h"
#include "lib/dialect/dialect.h"
#include "lib/exchange/exchange.h"
#include "lib/relay/attempt.h"
#include "lib/relay/headers.h"
#include "lib/relay/limit.h"
#include "lib/relay/live_exchange.h"
#include "lib/relay/pass_rules.h"
#include "lib/relay/ready_answer.h"
#include "lib/relay/upstream_answer.h"
#include "lib/upstream/pair.h"

// The life of an exchange, phase by phase. Accept to route are here, and the loop over the
// attempts; one attempt and its hold are in attempt.cc; commit, relay and finish in
// upstream_answer.cc, or ready_answer.cc for an answer of the gateway's own.

namespace sluice::relay {
namespace {

// Of what a client wrote, a record keeps no more: the event ring holds thousands of records.
constexpr size_t kMaxMethodRecorded = 32;
constexpr size_t kMaxPathRecorded = 512;

/// A request that no attempt is made for.
struct Refusal {
  Cause cause;
  std::string message;  // for the client
};

/// A request on its way to its pool.
struct Intake {
  Request request;
  ExchangeInfo info;  // handed over when the exchange starts
  dialect::Dialect dialect = dialect::Dialect::kNone;
  std::shared_ptr<const config::Snapshot> snapshot;
  const config::Pool* pool = nullptr;  // set by Route
  bool usage_is_ours = false;          // the gateway asked for it, the client did not
};

Intake Accept(const ProxyDeps& deps, Request request) {
  Intake intake;
  intake.request = std::move(request);
  intake.snapshot = deps.config.Current();
  intake.dialect = dialect::DialectOfPath(intake.request.path());

  ExchangeInfo& info = intake.info;
  info.id = NextExchangeId();
  info.request_id = ChooseRequestId(intake.request.headers, ToString(info.id));
  info.client_address = intake.request.client_address;
  info.method = intake.request.method.substr(0, kMaxMethodRecorded);
  info.path = std::string(intake.request.path().substr(0, kMaxPathRecorded));
  info.dialect = std::string(dialect::ToString(intake.dialect));
  info.config_generation = intake.snapshot->generation();
  info.started = deps.clock.WallNow();
  return intake;
}

std::optional<Refusal> Authenticate(Intake& intake) {
  // The configuration knows no client keys: everybody may call, and nobody has a name.
  intake.info.principal = "anonymous";
  return std::nullopt;
}

std::optional<Refusal> Admit(const Intake& intake, int in_flight) {
  if (in_flight <= intake.snapshot->config().limits.max_in_flight) return std::nullopt;
  return Refusal{Cause::kNoCapacity, "too many requests are in flight, try again later"};
}

std::optional<Refusal> Route(Intake& intake) {
  const config::Snapshot& snapshot = *intake.snapshot;
  if (snapshot.config().pools.empty()) {
    return Refusal{Cause::kNoCapacity, "no upstream is configured"};
  }
  if (dialect::NeedsModel(intake.dialect) && intake.request.method == "POST") {
    absl::StatusOr<dialect::RequestPeek> peek = dialect::PeekRequest(intake.request.body);
    if (!peek.ok()) return Refusal{Cause::kBadRequest, std::string(peek.status().message())};
    intake.info.model = std::move(peek->model);
    intake.info.stream = peek->stream;
  }
  const config::Route* route = snapshot.routes().Find(intake.info.model, intake.request.headers);
  intake.pool = route == nullptr ? nullptr : snapshot.routes().DestinationsOf(*route, 0)[0].pool;
  if (intake.pool == nullptr) {
    return Refusal{Cause::kNotFound,
                   intake.info.model.empty()
                       ? "no route serves requests without a model"
                       : absl::StrCat("the model `", intake.info.model, "` is not served here")};
  }
  intake.info.pool = intake.pool->id;
  return std::nullopt;
}

/// As the pool's `ask_usage` says.
void AskForUsage(Intake& intake) {
  if (!intake.pool->ask_usage || !intake.info.stream) return;
  std::optional<std::string> asking = dialect::AskForUsage(intake.dialect, intake.request.body);
  if (!asking.has_value()) return;
  intake.request.body = *std::move(asking);
  intake.usage_is_ours = true;
}

std::unique_ptr<Answer> AnswerError(std::unique_ptr<LiveExchange> exchange, const Intake& intake,
                                    Cause cause, absl::string_view message,
                                    absl::string_view detail) {
  if (InfoOf(cause).http_status == 0) {
    exchange->Finish(cause, detail);
    return std::make_unique<NoAnswer>();
  }
  const Duration stall_limit =
      (intake.pool != nullptr ? intake.pool->timeouts : config::Timeouts()).client_stall;
  return std::make_unique<ReadyAnswer>(
      std::move(exchange), ErrorAnswer(intake.dialect, cause, message), detail, stall_limit);
}

/// When no attempt is left. `last`: the last failure; `kept`: the last answer worth having.
std::unique_ptr<Answer> AnswerExhausted(std::unique_ptr<LiveExchange> exchange,
                                        const Intake& intake,
                                        const std::optional<AttemptFailure>& last,
                                        std::optional<WholeAnswer> kept) {
  if (!last.has_value()) {
    return AnswerError(std::move(exchange), intake, Cause::kNoCapacity, "",
                       intake.pool->endpoints.empty()
                           ? "the pool is empty"
                           : "no endpoint of the pool is taking requests, or no key is usable now");
  }
  if (kept.has_value() && !exchange->cancelled()) {
    return std::make_unique<ReadyAnswer>(std::move(exchange), *std::move(kept), last->detail,
                                         intake.pool->timeouts.client_stall);
  }
  // To the client an endpoint that can't be reached, or a key that it refuses, is missing capacity;
  // the attempts say which and why.
  const bool unusable = last->cause == Cause::kConnectFailed || last->cause == Cause::kDnsFailed ||
                        last->retry == RetryClass::kNextKey;
  return AnswerError(std::move(exchange), intake, unusable ? Cause::kNoCapacity : last->cause,
                     last->message, last->detail);
}

std::unique_ptr<Answer> AttemptAndHold(const ProxyDeps& deps, const Cancellation& cancellation,
                                       std::unique_ptr<LiveExchange> exchange,
                                       const Intake& intake) {
  const config::Pool& pool = *intake.pool;
  OutboundRequest outbound =
      PrepareOutbound(intake.request, exchange->record().info().request_id, pool.credentials);
  const Limit hold_budget = {DeadlineAfter(deps.clock.Now(), pool.timeouts.hold_budget),
                             Cause::kHoldBudgetSpent};
  upstream::Tried tried;
  std::optional<AttemptFailure> last;
  std::optional<WholeAnswer> kept;
  for (int remaining = pool.retry.max_attempts; remaining > 0; --remaining) {
    std::optional<upstream::Pair> pair =
        upstream::AcquirePair(deps.endpoints, deps.keys, *intake.snapshot, pool, tried);
    if (!pair.has_value()) break;
    const config::Endpoint& endpoint = pair->lease.endpoint();
    exchange->BeginAttempt(upstream::EndpointName(pool, endpoint), pair->key_id());
    if (pair->key.has_value()) pair->key->AddTo(outbound.headers);
    const auto others_remain = [&](upstream::Spent spent) {
      upstream::Tried then = tried;
      then.Add(endpoint.id, pair->key_id(), spent);
      return remaining > 1 &&
             upstream::PairRemains(deps.endpoints, deps.keys, *intake.snapshot, pool, then);
    };
    AttemptOutcome outcome = RunAttempt({.clock = deps.clock,
                                         .cancellation = cancellation,
                                         .transport = deps.transport,
                                         .pool = pool,
                                         .outbound = outbound,
                                         .dialect = intake.dialect,
                                         .hold_budget = hold_budget,
                                         .key = pair->key ? &*pair->key : nullptr,
                                         .others_remain = others_remain,
                                         .record = exchange->record()},
                                        pair->lease.address());
    if (auto* held = std::get_if<HeldAnswer>(&outcome)) {
      const PassRules rules = {pool.relay == config::RelayMode::kValidFrames, intake.usage_is_ours};
      return std::make_unique<UpstreamAnswer>(std::move(exchange), intake.snapshot, pool,
                                              std::move(pair->lease), intake.dialect, rules,
                                              std::move(*held));
    }
    last = std::get<AttemptFailure>(std::move(outcome));
    exchange->FailAttempt(*last);
    pair->lease.CountFailure();
    tried.Add(endpoint.id, pair->key_id(), last->spent);
    if (last->answer.has_value()) kept = std::move(last->answer);
    if (!MayRetry(last->retry, pool.retry)) break;
  }
  return AnswerExhausted(std::move(exchange), intake, last, std::move(kept));
}

}  // namespace

Proxy::Proxy(const ProxyDeps& deps) : deps_(deps) {}

std::unique_ptr<Answer> Proxy::Serve(Request request, Instant accepted,
                                     Cancellation& cancellation) {
  auto exchange = std::make_unique<LiveExchange>(deps_.clock, deps_.observer, deps_.registry,
                                                 cancellation, in_flight_, accepted);
  Intake intake = Accept(deps_, std::move(request));
  std::optional<Refusal> refusal = Authenticate(intake);
  if (!refusal) refusal = Admit(intake, in_flight());
  if (!refusal) refusal = Route(intake);
  if (!refusal) AskForUsage(intake);
  exchange->Start(std::move(intake.info));
  if (refusal) {
    return AnswerError(std::move(exchange), intake, refusal->cause, refusal->message, "");
  }
  return AttemptAndHold(deps_, cancellation, std::move(exchange), intake);
}

std::unique_ptr<Answer> Proxy::Refuse(Cause cause, absl::string_view message,
                                      absl::string_view client_address, Instant accepted,
                                      Cancellation& cancellation) {
  auto exchange = std::make_unique<LiveExchange>(deps_.clock, deps_.observer, deps_.registry,
                                                 cancellation, in_flight_, accepted);
  Request request;
  request.client_address = std::string(client_address);
  Intake intake = Accept(deps_, std::move(request));
  exchange->Start(std::move(intake.info));
  return AnswerError(std::move(exchange), intake, cause, message, message);
}

}  // namespace sluice::relay
