#include "lib/relay/pool_attempts.h"

#include <array>
#include <chrono>
#include <utility>
#include <variant>

#include "lib/base/digest.h"
#include "lib/dialect/dialect.h"
#include "lib/relay/headers.h"
#include "lib/upstream/outcome.h"

namespace sluice::relay {
namespace {

// Places and endpoints come back as soon as any exchange ends: there is nothing better to promise.
constexpr Duration kSoon = std::chrono::seconds(1);

absl::string_view WordsFor(upstream::Shortage shortage) {
  switch (shortage) {
    case upstream::Shortage::kNoneConfigured:
      return "the pool is empty";
    case upstream::Shortage::kAllTried:
      return "no endpoint of the pool is left to try";
    case upstream::Shortage::kAllDraining:
      return "all endpoints of the pool are draining";
    case upstream::Shortage::kAllEjected:
      return "all endpoints of the pool are ejected";
    case upstream::Shortage::kAllFull:
      return "all endpoints of the pool are full";
    case upstream::Shortage::kNoKey:
      return "no key of the pool is usable now";
  }
  return "";
}

/// What the pool's consistent hash is of.
std::optional<uint64_t> HashFor(const config::Balancing& balancing, const Intake& intake,
                                absl::string_view principal) {
  if (balancing.policy != config::Balance::kConsistentHash) return std::nullopt;
  switch (balancing.hash_on) {
    case config::HashOn::kHeader: {
      const std::string* value = intake.request.headers.Find(balancing.hash_header);
      return value == nullptr ? std::nullopt : std::make_optional(HashOf(*value));
    }
    case config::HashOn::kUser:
      return HashOf(intake.peek.user.empty() ? principal : absl::string_view(intake.peek.user));
    case config::HashOn::kConversation:
      return dialect::ConversationHash(intake.request.body, intake.peek);
  }
  return std::nullopt;
}

}  // namespace

PoolAttempts::PoolAttempts(const ProxyDeps& deps, const Cancellation& cancellation,
                           const Intake& intake, const config::Destination& destination,
                           bool others, LiveExchange& exchange)
    : deps_(deps),
      cancellation_(cancellation),
      intake_(intake),
      destination_(destination),
      others_(others),
      exchange_(exchange) {
  Pin(intake.snapshot, *destination.pool);
  hold_budget_ = {DeadlineAfter(deps.clock.Now(), pool_->timeouts.hold_budget),
                  Cause::kHoldBudgetSpent};
}

void PoolAttempts::Pin(std::shared_ptr<const config::Snapshot> snapshot, const config::Pool& pool) {
  snapshot_ = std::move(snapshot);
  pool_ = &pool;
  hash_ = HashFor(pool.balancing, intake_, exchange_.record().info().principal);
  if (pool.balancing.policy == config::Balance::kPrefixAffinity) {
    prefix_ = dialect::PromptBlocks(intake_.request.body, intake_.peek);
  }
}

void PoolAttempts::Prepare() {
  remaining_ = pool_->retry.max_attempts;
  // A key of the gateway's own clients is nothing for an upstream, whatever the pool passes
  // through.
  const config::Credentials credentials =
      deps_.client_keys != nullptr ? config::Credentials::kReplace : pool_->credentials;
  outbound_ = PrepareOutbound(intake_.request, exchange_.record().info().request_id, credentials);
  if (!destination_.model.empty() && !intake_.peek.model_value.empty()) {
    body_ = dialect::RewriteModel(intake_.request.body, intake_.peek, destination_.model);
    outbound_.body = body_;
  }
  const bool asks = pool_->ask_usage || exchange_.counts_tokens();
  if (!asks || !exchange_.record().info().stream) return;
  if (auto asking = dialect::AskForUsage(intake_.dialect, outbound_.body)) {
    body_ = *std::move(asking);
    outbound_.body = body_;
    usage_is_ours_ = true;
  }
}

std::optional<Served> PoolAttempts::Run(Fruitless& fruitless) {
  if (!Enter(fruitless)) return std::nullopt;
  Prepare();
  const bool hedges = pool_->hedge.after > Duration::zero();
  if (hedges) deps_.hedge_budgets.OnExchange(*pool_);
  while (true) {
    Begun begun = Begin(*std::exchange(pair_, std::nullopt));
    AttemptOutcome outcome = hedges ? AttemptHedged(begun, fruitless) : Attempt(begun);
    if (auto* held = std::get_if<HeldAnswer>(&outcome)) {
      return Serve(std::move(begun), std::move(*held), fruitless);
    }
    Fail(begun, std::get<AttemptFailure>(std::move(outcome)), fruitless);
    if (!may_go_on_ || !MayAttemptAgain() || NextPair().has_value()) return std::nullopt;
  }
}

bool PoolAttempts::Enter(Fruitless& fruitless) {
  // Nobody overtakes those who wait already.
  Entry entry = deps_.gate.queues.HasWaiters(pool_->id) ? Entry::kFull : TryEnter(fruitless);
  std::optional<admission::Ticket> ticket;
  while (entry == Entry::kFull) {
    if (!ticket.has_value()) {
      auto place = deps_.gate.queues.Enter(pool_->id, pool_->queue, intake_.policy->priority,
                                           deps_.parking_lot.NewParking());
      if (!place.has_value()) {
        fruitless.shortage = pool_->queue.capacity == 0 ? "the pool is full"
                                                        : "the pool is full, and so is its queue";
        return false;
      }
      ticket.emplace(*std::move(place));
    }
    exchange_.record().phase = Phase::kQueue;
    switch (ticket->Await(hold_budget_.at)) {
      case admission::Ticket::Outcome::kTurn: {
        std::shared_ptr<const config::Snapshot> current = deps_.config.Current();
        if (const config::Pool* pool = current->FindPool(pool_->id)) {
          Pin(std::move(current), *pool);
        }
        entry = TryEnter(fruitless);
        break;
      }
      case admission::Ticket::Outcome::kDeadline:
        fruitless.shortage = "the pool was full for as long as a request may wait";
        return false;
      case admission::Ticket::Outcome::kCancelled:
        may_go_on_ = false;
        return false;
    }
  }
  return entry == Entry::kDone;
}

PoolAttempts::Entry PoolAttempts::TryEnter(Fruitless& fruitless) {
  slot_ = deps_.gate.pools.TryTake(pool_->id, pool_->max_in_flight);
  if (!slot_.has_value()) return Entry::kFull;
  const std::optional<upstream::Shortage> shortage = NextPair();
  if (!shortage.has_value()) return Entry::kDone;
  std::exchange(slot_, std::nullopt)->GiveBackUnused();  // who waits is not in flight
  if (*shortage == upstream::Shortage::kAllFull) return Entry::kFull;
  fruitless.shortage = std::string(WordsFor(*shortage));
  return Entry::kNothing;
}

std::optional<upstream::Shortage> PoolAttempts::NextPair() {
  auto acquired = upstream::AcquirePair(deps_.endpoints, deps_.keys, *snapshot_, *pool_, tried_,
                                        {.hash = hash_, .prefix = prefix_});
  const auto* shortage = std::get_if<upstream::Shortage>(&acquired);
  no_key_ = shortage != nullptr && *shortage == upstream::Shortage::kNoKey;
  if (shortage != nullptr) return *shortage;
  pair_.emplace(std::get<upstream::Pair>(std::move(acquired)));
  return std::nullopt;
}

std::optional<Duration> PoolAttempts::UsableIn() const {
  return no_key_ ? deps_.keys.UsableIn(*snapshot_, *pool_) : kSoon;
}

bool PoolAttempts::MayAttemptAgain() const {
  return remaining_ > 0 && deps_.retry_budgets.MayRetry(*pool_);
}

PoolAttempts::Begun PoolAttempts::Begin(upstream::Pair pair) {
  --remaining_;
  const Instant now = deps_.clock.Now();
  const size_t index = exchange_.BeginAttempt(pair.lease.name(), pair.key_id());
  return {.pair = std::move(pair), .index = index, .started = now};
}

AttemptOutcome PoolAttempts::Attempt(Begun& begun) {
  const upstream::Pair& pair = begun.pair;
  Exchange& record = exchange_.record();
  const auto others_remain = [&](upstream::Spent spent) { return OthersRemain(pair, spent); };
  return RunAttempt({.clock = deps_.clock,
                     .cancellation = cancellation_,
                     .transport = deps_.transport,
                     .pool = *pool_,
                     .outbound = RequestOf(begun),
                     .dialect = intake_.dialect,
                     .hold_budget = hold_budget_,
                     .key = pair.key ? &*pair.key : nullptr,
                     .others_remain = others_remain,
                     .record = record,
                     .index = begun.index,
                     .stamps = race_ == nullptr ? record.stamps.upstream : begun.stamps},
                    pair.lease.address());
}

const OutboundRequest& PoolAttempts::RequestOf(Begun& begun) {
  const auto& additions = begun.pair.lease.endpoint().headers;
  const bool own = race_ != nullptr || !additions.empty();
  OutboundRequest& request = own ? begun.request.emplace(outbound_) : outbound_;
  if (begun.pair.key.has_value())
    begun.pair.key->AddTo(request.headers);  // in the last one's place
  for (const config::HeaderAddition& header : additions) {
    request.headers.Set(header.name, header.value);
  }
  return request;
}

AttemptOutcome PoolAttempts::AttemptHedged(Begun& begun, Fruitless& fruitless) {
  std::array<std::optional<Begun>, 2> contenders{std::move(begun), std::nullopt};
  AttemptRace race(deps_.branches, deps_.parking_lot);
  race_ = &race;
  race.Begin([&] { return Attempt(*contenders[0]); });
  if (!race.AwaitDecision(contenders[0]->started + pool_->hedge.after) && !exchange_.cancelled()) {
    if (std::optional<upstream::Pair> pair = PairBeside(contenders[0]->pair)) {
      contenders[1] = Begin(*std::move(pair));
      race.Begin([&] { return Attempt(*contenders[1]); });
    }
    race.AwaitDecision(kNever);
  }
  race.EndOthers();
  race_ = nullptr;
  const size_t decisive = race.Decisive();
  const size_t other = 1 - decisive;
  if (contenders[other].has_value()) {
    const bool cut = race.cut(other) && !exchange_.cancelled();
    Dismiss(*contenders[other], std::move(race.outcome(other)), cut, fruitless);
  }
  begun = *std::move(contenders[decisive]);
  exchange_.AttemptDecides(begun.index, begun.stamps);
  return std::move(race.outcome(decisive));
}

std::optional<upstream::Pair> PoolAttempts::PairBeside(const upstream::Pair& first) {
  if (!MayAttemptAgain()) return std::nullopt;
  upstream::Tried tried = tried_;
  tried.Add(first.lease.id(), first.key_id(), upstream::Spent::kEndpoint);
  if (!upstream::PairRemains(deps_.endpoints, deps_.keys, *snapshot_, *pool_, tried) ||
      !deps_.hedge_budgets.TryTake(*pool_)) {
    return std::nullopt;
  }
  auto acquired = upstream::AcquirePair(deps_.endpoints, deps_.keys, *snapshot_, *pool_, tried,
                                        {.hash = hash_, .prefix = prefix_});
  auto* pair = std::get_if<upstream::Pair>(&acquired);
  return pair == nullptr ? std::nullopt : std::make_optional(std::move(*pair));
}

void PoolAttempts::Dismiss(Begun& begun, AttemptOutcome outcome, bool cut, Fruitless& fruitless) {
  if (auto* failure = std::get_if<AttemptFailure>(&outcome); failure != nullptr && !cut) {
    Fail(begun, std::move(*failure), fruitless);
    return;
  }
  AttemptFailure lost{.cause = Cause::kHedgeLost};
  if (auto* held = std::get_if<HeldAnswer>(&outcome)) {
    lost = {.cause = held->standing.value_or(Cause::kHedgeLost),
            .status = held->head.status,
            .rest = held->rest};
    held->stream = nullptr;
  } else {
    begun.pair.lease.NoFrameFor(deps_.clock.Now() - begun.started);
  }
  exchange_.FailAttempt(begun.index, lost);
  begun.pair.lease.Report(upstream::OutcomeOf(lost.cause, lost.status, "", ""), lost.cause,
                          lost.rest);
}

void PoolAttempts::Fail(Begun& begun, AttemptFailure failure, Fruitless& fruitless) {
  AttemptFailure& last = fruitless.last.emplace(std::move(failure));
  exchange_.FailAttempt(begun.index, last);
  upstream::Pair& pair = begun.pair;
  if (!exchange_.cancelled()) pair.lease.CountFailure();
  pair.lease.Report(upstream::OutcomeOf(last.cause, last.status, last.error_type, last.error_code),
                    last.cause, last.rest);
  pair.lease.Release();
  tried_.Add(pair.lease.id(), pair.key_id(), last.spent);
  if (last.answer.has_value()) {
    fruitless.soonest_retry.See(last.answer->head, deps_.clock.WallNow());
    fruitless.kept = std::move(last.answer);
  }
  may_go_on_ = MayRetry(last.retry, pool_->retry);
  if (may_go_on_) deps_.retry_budgets.OnFailure(*pool_);
}

Served PoolAttempts::Serve(Begun begun, HeldAnswer held, Fruitless& fruitless) {
  if (!held.standing.has_value()) {
    deps_.retry_budgets.OnSuccess(*pool_);
    if (held.first_frame_seen) {
      begun.pair.lease.FirstFrameAfter(deps_.clock.Now() - begun.started);
    }
  } else {
    fruitless.soonest_retry.See(held.head, deps_.clock.WallNow());
    fruitless.soonest_retry.PutInto(held.head);
  }
  const PassRules rules = {pool_->relay == config::RelayMode::kValidFrames, usage_is_ours_};
  return {snapshot_, *pool_, *std::move(slot_), std::move(begun.pair), std::move(held), rules};
}

bool PoolAttempts::OthersRemain(const upstream::Pair& pair, upstream::Spent spent) const {
  if (others_ || (race_ != nullptr && race_->running() > 1)) return true;
  if (!MayAttemptAgain()) return false;
  upstream::Tried then = tried_;
  then.Add(pair.lease.id(), pair.key_id(), spent);
  return upstream::PairRemains(deps_.endpoints, deps_.keys, *snapshot_, *pool_, then);
}

}  // namespace sluice::relay
