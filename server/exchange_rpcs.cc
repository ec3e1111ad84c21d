#include "server/exchange_rpcs.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "server/event_convert.h"
#include "server/exchange_convert.h"
#include "server/rpc_error.h"
#include "server/rpc_field.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;

constexpr int kDefaultPage = 100;
constexpr int kLargestPage = 1000;

/// Where a list goes on: after the exchange of that id, in the running or the finished ones.
struct PageToken {
  bool finished = false;
  ExchangeId last;
};

std::string ToString(const PageToken& token) {
  return absl::StrCat(token.finished ? "f" : "r", sluice::ToString(token.last));
}

std::optional<PageToken> ParsePageToken(absl::string_view text) {
  if (text.empty() || (text[0] != 'f' && text[0] != 'r')) return std::nullopt;
  const std::optional<ExchangeId> last = ParseExchangeId(text.substr(1));
  if (!last.has_value()) return std::nullopt;
  return PageToken{text[0] == 'f', *last};
}

template <typename List, typename Value>
bool Allows(const List& list, const Value& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

bool Matches(const pb::ListExchangesRequest& request, const ExchangeView& view) {
  const ExchangeInfo& info = view.info();
  if (!Allows(request.models(), info.model) || !Allows(request.pools(), info.pool) ||
      !Allows(request.principals(), info.principal) ||
      !Allows(request.endpoints(), view.subject->endpoint)) {
    return false;
  }
  if (request.causes().empty()) return true;
  return view.finished && view.record->cause.has_value() &&
         Allows(request.causes(), static_cast<int>(ToProto(*view.record->cause)));
}

std::vector<ExchangeView> Selected(const pb::ListExchangesRequest& request,
                                   const ExchangeRegistry& registry) {
  std::vector<ExchangeView> views;
  if (request.selection() != pb::ListExchangesRequest::SELECTION_FINISHED) {
    views = registry.ListRunning();
  }
  if (request.selection() != pb::ListExchangesRequest::SELECTION_LIVE) {
    for (ExchangeView& view : registry.ListFinished()) views.push_back(std::move(view));
  }
  std::erase_if(views, [&](const ExchangeView& view) { return !Matches(request, view); });
  return views;
}

grpc::Status EndsAlready(const std::string& id) {
  return RpcError(grpc::StatusCode::FAILED_PRECONDITION, "EXCHANGE_ENDED",
                  absl::StrCat("exchange ", id, " has finished, or is ending already"));
}

/// An exchange that was on an earlier page as a running one may come again as finished: better
/// twice than never.
bool ComesAfter(const PageToken& token, const ExchangeView& view) {
  if (view.finished != token.finished) return view.finished;
  return view.info().id.value < token.last.value;
}

}  // namespace

grpc::Status ExchangeRpcs::List(const pb::ListExchangesRequest& request,
                                pb::ListExchangesResponse* response) const {
  if (request.page_size() < 0 || request.page_size() > kLargestPage) {
    return InvalidField("page_size", absl::StrCat("must be from 0 to ", kLargestPage));
  }
  std::vector<ExchangeView> views = Selected(request, registry_);
  response->set_total_size(static_cast<int64_t>(views.size()));
  if (!request.page_token().empty()) {
    const std::optional<PageToken> token = ParsePageToken(request.page_token());
    if (!token.has_value()) {
      return InvalidField("page_token",
                          "is none that ListExchanges gave; leave it out to begin anew");
    }
    std::erase_if(views, [&](const ExchangeView& view) { return !ComesAfter(*token, view); });
  }
  const size_t page = request.page_size() == 0 ? kDefaultPage : request.page_size();
  const Instant now = clock_.Now();
  for (size_t i = 0; i < std::min(page, views.size()); ++i) {
    ToProto(views[i], now, response->add_exchanges());
  }
  if (views.size() > page) {
    const ExchangeView& last = views[page - 1];
    response->set_next_page_token(ToString(PageToken{last.finished, last.info().id}));
  }
  return grpc::Status::OK;
}

grpc::Status ExchangeRpcs::Get(const pb::GetExchangeRequest& request,
                               pb::Exchange* response) const {
  ExchangeView view;
  if (grpc::Status found = Find(request.id(), &view); !found.ok()) return found;
  ToProtoInFull(view, clock_.Now(), response);
  return grpc::Status::OK;
}

grpc::Status ExchangeRpcs::Cancel(const Caller& caller, const pb::CancelExchangeRequest& request,
                                  pb::Exchange* response) {
  if (grpc::Status status = CheckReason(request.reason()); !status.ok()) return status;
  constexpr absl::string_view kAction = "cancel exchange";
  ExchangeView view;
  if (grpc::Status found = FindFor(caller, kAction, request.id(), &view); !found.ok()) return found;
  const auto result = registry_.Cancel(view.info().id, Cause::kCancelledByOperator, clock_.Now(),
                                       WhoAndWhy(caller, request.reason()));
  const bool cancelled = result == ExchangeRegistry::CancelResult::kCancelled;
  audit_.Write(caller, kAction,
               {{"exchange", request.id()},
                {"outcome", cancelled ? "OK" : "FAILED_PRECONDITION"},
                {"reason", request.reason()}});
  if (!cancelled) return EndsAlready(request.id());
  ToProto(view, clock_.Now(), response);
  return grpc::Status::OK;
}

grpc::Status ExchangeRpcs::Tail(const Caller& caller, const pb::TailExchangeRequest& request,
                                ExchangeView* view, std::shared_ptr<Tap>* tap) {
  constexpr absl::string_view kAction = "tail exchange";
  if (grpc::Status found = FindFor(caller, kAction, request.id(), view); !found.ok()) return found;
  *tap = registry_.AddTap(view->info().id);
  audit_.Write(
      caller, kAction,
      {{"exchange", request.id()}, {"outcome", *tap != nullptr ? "OK" : "FAILED_PRECONDITION"}});
  return *tap != nullptr ? grpc::Status::OK : EndsAlready(request.id());
}

grpc::Status ExchangeRpcs::Find(const std::string& text, ExchangeView* view) const {
  const std::optional<ExchangeId> id = ParseExchangeId(text);
  if (!id.has_value()) {
    return InvalidField("id", "is not the id of an exchange, as in x5f3a09c100000001");
  }
  std::optional<ExchangeView> found = registry_.Find(*id);
  if (!found.has_value()) {
    return RpcError(
        grpc::StatusCode::NOT_FOUND, "EXCHANGE_UNKNOWN",
        absl::StrCat("exchange ", text, " is neither running nor among the latest that finished"));
  }
  *view = *std::move(found);
  return grpc::Status::OK;
}

grpc::Status ExchangeRpcs::FindFor(const Caller& caller, absl::string_view action,
                                   const std::string& id, ExchangeView* view) {
  grpc::Status found = Find(id, view);
  if (found.error_code() == grpc::StatusCode::NOT_FOUND) {
    audit_.Write(caller, action, {{"exchange", id}, {"outcome", "NOT_FOUND"}});
  }
  return found;
}

}  // namespace sluice::server
