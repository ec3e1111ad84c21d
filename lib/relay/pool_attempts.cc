#include "lib/relay/pool_attempts.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "lib/base/digest.h"
#include "lib/dialect/dialect.h"
#include "lib/relay/headers.h"
#include "lib/upstream/outcome.h"

namespace sluice::relay {
namespace {

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
  while (true) {
    upstream::Pair pair = *std::exchange(pair_, std::nullopt);
    const Instant started = deps_.clock.Now();
    exchange_.BeginAttempt(pair.lease.name(), pair.key_id());
    --remaining_;
    AttemptOutcome outcome = Attempt(pair);
    if (auto* held = std::get_if<HeldAnswer>(&outcome)) {
      if (!held->standing.has_value()) {
        deps_.retry_budgets.OnSuccess(*pool_);
        if (held->first_frame_seen) pair.lease.FirstFrameAfter(deps_.clock.Now() - started);
      } else {
        fruitless.soonest_retry.See(held->head, deps_.clock.WallNow());
        fruitless.soonest_retry.PutInto(held->head);
      }
      const PassRules rules = {pool_->relay == config::RelayMode::kValidFrames, usage_is_ours_};
      return Served{snapshot_, *pool_, *std::move(slot_), std::move(pair), std::move(*held), rules};
    }
    AttemptFailure& last = fruitless.last.emplace(std::get<AttemptFailure>(std::move(outcome)));
    exchange_.FailAttempt(last);
    if (!exchange_.cancelled()) pair.lease.CountFailure();
    pair.lease.Report(
        upstream::OutcomeOf(last.cause, last.status, last.error_type, last.error_code), last.cause,
        last.rest);
    tried_.Add(pair.lease.id(), pair.key_id(), last.spent);
    if (last.answer.has_value()) {
      fruitless.soonest_retry.See(last.answer->head, deps_.clock.WallNow());
      fruitless.kept = std::move(last.answer);
    }
    may_go_on_ = MayRetry(last.retry, pool_->retry);
    if (!may_go_on_) return std::nullopt;
    deps_.retry_budgets.OnFailure(*pool_);
    if (!MayAttemptAgain() || NextPair(fruitless).has_value()) return std::nullopt;
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
  if (!slot_.has_value()) slot_ = deps_.gate.pools.TryTake(pool_->id, pool_->max_in_flight);
  if (!slot_.has_value()) return Entry::kFull;
  const std::optional<upstream::Shortage> shortage = NextPair(fruitless);
  if (!shortage.has_value()) return Entry::kDone;
  if (*shortage == upstream::Shortage::kAllFull) return Entry::kFull;
  fruitless.shortage = std::string(WordsFor(*shortage));
  return Entry::kNothing;
}

std::optional<upstream::Shortage> PoolAttempts::NextPair(Fruitless& fruitless) {
  auto acquired = upstream::AcquirePair(deps_.endpoints, deps_.keys, *snapshot_, *pool_, tried_,
                                        {.hash = hash_, .prefix = prefix_});
  if (const auto* shortage = std::get_if<upstream::Shortage>(&acquired)) {
    if (*shortage == upstream::Shortage::kNoKey) NoteRestingKeys(fruitless);
    return *shortage;
  }
  pair_.emplace(std::get<upstream::Pair>(std::move(acquired)));
  return std::nullopt;
}

void PoolAttempts::NoteRestingKeys(Fruitless& fruitless) const {
  const absl::Time now = deps_.clock.WallNow();
  for (const upstream::KeyRing::Reading& key : deps_.keys.Read(*snapshot_, *pool_)) {
    if (key.state != KeyStateChanged::State::kResting) continue;
    const Duration rest = absl::ToChronoNanoseconds(key.until - now);
    fruitless.keys_rest = std::min(rest, fruitless.keys_rest.value_or(Duration::max()));
  }
}

bool PoolAttempts::MayAttemptAgain() const {
  return remaining_ > 0 && deps_.retry_budgets.MayRetry(*pool_);
}

AttemptOutcome PoolAttempts::Attempt(const upstream::Pair& pair) {
  if (pair.key.has_value()) pair.key->AddTo(outbound_.headers);  // in the place of the last one
  std::optional<OutboundRequest> with_headers;                   // of this endpoint alone
  if (const auto& additions = pair.lease.endpoint().headers; !additions.empty()) {
    with_headers = outbound_;
    for (const config::HeaderAddition& header : additions) {
      with_headers->headers.Set(header.name, header.value);
    }
  }
  const auto others_remain = [&](upstream::Spent spent) { return OthersRemain(pair, spent); };
  return RunAttempt({.clock = deps_.clock,
                     .cancellation = cancellation_,
                     .transport = deps_.transport,
                     .pool = *pool_,
                     .outbound = with_headers.has_value() ? *with_headers : outbound_,
                     .dialect = intake_.dialect,
                     .hold_budget = hold_budget_,
                     .key = pair.key ? &*pair.key : nullptr,
                     .others_remain = others_remain,
                     .record = exchange_.record()},
                    pair.lease.address());
}

bool PoolAttempts::OthersRemain(const upstream::Pair& pair, upstream::Spent spent) const {
  if (others_) return true;
  if (!MayAttemptAgain()) return false;
  upstream::Tried then = tried_;
  then.Add(pair.lease.id(), pair.key_id(), spent);
  return upstream::PairRemains(deps_.endpoints, deps_.keys, *snapshot_, *pool_, then);
}

}  // namespace sluice::relay
