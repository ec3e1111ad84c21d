#include "lib/relay/proxy.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/admission/rate_limit_headers.h"
#include "lib/dialect/dialect.h"
#include "lib/exchange/exchange.h"
#include "lib/relay/attempt.h"
#include "lib/relay/intake.h"
#include "lib/relay/live_exchange.h"
#include "lib/relay/pool_attempts.h"
#include "lib/relay/ready_answer.h"
#include "lib/relay/upstream_answer.h"

// The life of an exchange: accept to route are in intake.cc; the attempts at one pool in
// pool_attempts.cc, one attempt and its hold in attempt.cc; commit, relay and finish in
// upstream_answer.cc, or ready_answer.cc for an answer of the gateway's own.

namespace sluice::relay {
namespace {

/// How long the client of an answer that is no pool's may take to read it.
constexpr Duration kStallLimit = config::Timeouts().client_stall;

std::unique_ptr<Answer> AnswerError(std::unique_ptr<LiveExchange> exchange, const Intake& intake,
                                    const Refusal& refusal, absl::string_view detail) {
  if (InfoOf(refusal.cause).http_status == 0) {
    exchange->Finish(refusal.cause, detail);
    return std::make_unique<NoAnswer>();
  }
  WholeAnswer answer = ErrorAnswer(intake.dialect, refusal.cause, refusal.message);
  if (refusal.for_good) answer.head.headers.Remove("Retry-After");
  for (const Header& field : refusal.headers) answer.head.headers.Set(field.name, field.value);
  return std::make_unique<ReadyAnswer>(std::move(exchange), std::move(answer), detail, kStallLimit);
}

std::unique_ptr<Answer> AnswerModels(std::unique_ptr<LiveExchange> exchange, const Intake& intake) {
  const bool anthropic = intake.request.headers.Find("anthropic-version") != nullptr;
  WholeAnswer answer;
  answer.cause = Cause::kCompleted;
  answer.head.status = 200;
  answer.head.reason = "OK";
  answer.head.headers.Add("Content-Type", "application/json");
  answer.body = dialect::ModelsBody(anthropic, ModelsFor(intake), intake.snapshot->update_time());
  return std::make_unique<ReadyAnswer>(std::move(exchange), std::move(answer), "", kStallLimit);
}

/// For the record, when it is no use to come again.
constexpr absl::string_view kNoKeyAsItStands =
    "none of the keys is used before it, or the configuration, changes";

/// When no attempt is left.
std::unique_ptr<Answer> AnswerExhausted(std::unique_ptr<LiveExchange> exchange,
                                        const Intake& intake, Fruitless fruitless) {
  const std::optional<AttemptFailure>& last = fruitless.last;
  Refusal refusal{Cause::kNoCapacity, ""};
  std::string detail = last.has_value() ? last->detail : fruitless.shortage;
  refusal.for_good = fruitless.soonest == Duration::max();
  if (refusal.for_good) {
    absl::StrAppend(&detail, detail.empty() ? "" : "; ", kNoKeyAsItStands);
  } else {
    refusal.headers.Add("Retry-After", admission::RetryAfterSeconds(fruitless.soonest));
  }
  if (!last.has_value()) {
    if (exchange->cancelled()) refusal.cause = exchange->LossCause();
    return AnswerError(std::move(exchange), intake, refusal, detail);
  }
  if (fruitless.kept.has_value() && !exchange->cancelled()) {
    fruitless.soonest_retry.PutInto(fruitless.kept->head);
    return std::make_unique<ReadyAnswer>(std::move(exchange), *std::move(fruitless.kept),
                                         last->detail, kStallLimit);
  }
  // To the client an endpoint that can't be reached, or a key that it refuses, is missing capacity;
  // the attempts say which and why.
  const bool unusable = last->cause == Cause::kConnectFailed || last->cause == Cause::kDnsFailed ||
                        last->retry == RetryClass::kNextKey;
  if (!unusable)
    return AnswerError(std::move(exchange), intake, {last->cause, last->message}, last->detail);
  refusal.message = last->message;
  return AnswerError(std::move(exchange), intake, refusal, detail);
}

std::unique_ptr<Answer> AttemptAndHold(const ProxyDeps& deps, const Cancellation& cancellation,
                                       std::unique_ptr<LiveExchange> exchange,
                                       const Intake& intake) {
  Fruitless fruitless;
  for (size_t i = 0; i < intake.destinations.size(); ++i) {
    const bool others = i + 1 < intake.destinations.size();
    PoolAttempts attempts(deps, cancellation, intake, intake.destinations[i], others, *exchange);
    if (std::optional<Served> served = attempts.Run(fruitless)) {
      return std::make_unique<UpstreamAnswer>(std::move(exchange), intake.dialect,
                                              *std::move(served));
    }
    fruitless.soonest = std::min(fruitless.soonest, attempts.UsableIn().value_or(Duration::max()));
    if (!attempts.may_go_on()) break;
  }
  return AnswerExhausted(std::move(exchange), intake, std::move(fruitless));
}

}  // namespace

Proxy::Proxy(const ProxyDeps& deps) : deps_(deps) {}

std::unique_ptr<Answer> Proxy::Serve(Request request, Instant accepted,
                                     Cancellation& cancellation) {
  auto exchange = std::make_unique<LiveExchange>(deps_.clock, deps_.observer, deps_.registry,
                                                 cancellation, in_flight_, accepted);
  Intake intake = Accept(deps_, std::move(request));
  std::optional<Refusal> refusal = Authenticate(deps_, intake);
  if (!refusal && accepted > drained_from_.load()) {
    refusal = Refusal{Cause::kDrained, "this gateway takes no new requests any more, try again"};
  }
  if (!refusal) refusal = Admit(deps_, in_flight(), intake);
  const bool asks_for_models = !refusal && AsksForModels(intake);
  if (!refusal && !asks_for_models) refusal = Route(deps_, intake);
  exchange->Start(std::move(intake.info), std::move(intake.allowance));
  if (refusal) return AnswerError(std::move(exchange), intake, *refusal, "");
  if (asks_for_models) return AnswerModels(std::move(exchange), intake);
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
  exchange->Start(std::move(intake.info), std::nullopt);
  return AnswerError(std::move(exchange), intake, {cause, std::string(message)}, message);
}

}  // namespace sluice::relay
