#include "lib/relay/intake.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "lib/admission/client_keys.h"
#include "lib/admission/principals.h"
#include "lib/admission/rate_limit_headers.h"
#include "lib/base/digest.h"
#include "lib/base/ids.h"
#include "lib/relay/headers.h"

namespace sluice::relay {
namespace {

// Of what a client wrote, a record keeps no more: the event ring holds thousands of records.
constexpr size_t kMaxMethodRecorded = 32;
constexpr size_t kMaxPathRecorded = 512;

/// A client that mistyped a model is told of so many others.
constexpr size_t kMaxModelsTold = 20;

/// What the admin port serves, and upstreams often too: for operators, not for clients.
bool IsProbe(absl::string_view path) {
  return path == "/healthz" || path == "/readyz" || path == "/metrics";
}

/// RFC 9110 section 11.6.1 asks for the field with each 401.
Refusal Unauthenticated(std::string message) {
  Refusal refusal{Cause::kUnauthenticated, std::move(message)};
  refusal.headers.Add("WWW-Authenticate", "Bearer");
  return refusal;
}

Refusal NotServed(const Intake& intake) {
  if (intake.info.model.empty()) {
    return {Cause::kNotFound, "no route serves requests without a model"};
  }
  std::vector<std::string> models = ModelsFor(intake);
  const size_t more = models.size() - std::min(models.size(), kMaxModelsTold);
  models.resize(models.size() - more);
  std::string message = absl::StrCat("the model `", intake.info.model, "` is not served here");
  if (!models.empty()) absl::StrAppend(&message, "; there are: ", absl::StrJoin(models, ", "));
  if (more > 0) absl::StrAppend(&message, " and ", more, " more");
  return {Cause::kNotFound, std::move(message)};
}

std::optional<Refusal> CheckRate(const ProxyDeps& deps, Intake& intake) {
  const ExchangeInfo& info = intake.info;
  const config::Rate& rate = admission::RateFor(*intake.policy, info.model);
  if (rate.requests_per_minute == 0 && rate.tokens_per_minute == 0) return std::nullopt;
  // All models that a rate is for share its count: with patterns, clients could invent names.
  const admission::Verdict verdict = deps.gate.rates.Admit(info.principal, rate.model, rate);
  if (verdict.kind == admission::Verdict::kOk) {
    intake.allowance->CountTokens(info.principal, rate, intake.policy->end_streams);
    return std::nullopt;
  }
  const bool requests = verdict.kind == admission::Verdict::kRequestsSpent;
  return Refusal{
      Cause::kOverLimit,
      absl::StrCat("over the limit of ", requests ? verdict.requests.limit : verdict.tokens.limit,
                   requests ? " requests" : " tokens", " a minute"),
      admission::RateLimitHeaders(verdict)};
}

}  // namespace

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

std::optional<Refusal> Authenticate(const ProxyDeps& deps, Intake& intake) {
  intake.info.principal = "anonymous";
  if (deps.client_keys != nullptr) {
    const auto credential = admission::CredentialOf(intake.request.headers);
    if (!credential.has_value()) {
      return Unauthenticated(
          "one client key is required: `Authorization: Bearer KEY`, or `x-api-key`, or the same in "
          "both");
    }
    const auto keys = deps.client_keys->Current();
    const std::string* principal = keys->Find(*credential, deps.clock.WallNow());
    if (principal == nullptr) return Unauthenticated("the client key is not valid, or expired");
    intake.info.principal = *principal;
  }
  intake.policy = &admission::PolicyFor(intake.snapshot->config(), intake.info.principal);
  return std::nullopt;
}

std::optional<Refusal> Admit(const ProxyDeps& deps, int in_flight, Intake& intake) {
  if (in_flight > intake.snapshot->config().limits.max_in_flight) {
    return Refusal{Cause::kNoCapacity, "too many requests are in flight, try again later"};
  }
  if (AsksForModels(intake)) return std::nullopt;
  const int limit = intake.policy->max_in_flight;
  std::optional<admission::Slot> slot = deps.gate.principals.TryTake(intake.info.principal, limit);
  if (!slot.has_value()) {
    return Refusal{Cause::kOverLimit,
                   absl::StrCat("over the limit of ", limit, " requests in flight")};
  }
  intake.allowance.emplace(deps.gate.rates, *std::move(slot));
  return std::nullopt;
}

bool AsksForModels(const Intake& intake) {
  return intake.request.method == "GET" && intake.request.path() == "/v1/models" &&
         !intake.snapshot->routes().models().empty();
}

std::optional<Refusal> Route(const ProxyDeps& deps, Intake& intake) {
  const config::Snapshot& snapshot = *intake.snapshot;
  if (IsProbe(intake.request.path())) {
    return Refusal{Cause::kNotFound, "probes and metrics are not served to clients"};
  }
  if (snapshot.config().pools.empty()) {
    return Refusal{Cause::kNoCapacity, "no upstream is configured"};
  }
  ExchangeInfo& info = intake.info;
  if (dialect::NeedsModel(intake.dialect) && intake.request.method == "POST") {
    absl::StatusOr<dialect::RequestPeek> peek = dialect::PeekRequest(intake.request.body);
    if (!peek.ok()) return Refusal{Cause::kBadRequest, std::string(peek.status().message())};
    intake.peek = *std::move(peek);
    info.model = intake.peek.model;
    info.stream = intake.peek.stream;
  }
  const config::Route* route = snapshot.routes().Find(info.model, intake.request.headers);
  if (route == nullptr) return NotServed(intake);
  if (!admission::MayUse(*intake.policy, info.model)) {
    return Refusal{Cause::kForbidden,
                   info.model.empty()
                       ? absl::StrCat(info.principal, " may not make requests without a model")
                       : absl::StrCat(info.principal, " may not use the model `", info.model, "`")};
  }
  intake.destinations = snapshot.routes().DestinationsOf(*route, HashOf(info.request_id));
  info.pool = intake.destinations.front().pool->id;
  return CheckRate(deps, intake);
}

std::vector<std::string> ModelsFor(const Intake& intake) {
  std::vector<std::string> models;
  const std::vector<std::string>& all = intake.snapshot->routes().models();
  std::copy_if(all.begin(), all.end(), std::back_inserter(models),
               [&](const std::string& model) { return admission::MayUse(*intake.policy, model); });
  return models;
}

}  // namespace sluice::relay
