#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/exchange_request.h"
#include "admin/exchange_text.h"
#include "admin/flag_values.h"
#include "admin/json.h"
#include "admin/wording.h"
#include "lib/base/status.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

constexpr int64_t kMostPerPage = 1000;

absl::StatusOr<v1::ListExchangesRequest> MakeRequest(const Invocation& invocation) {
  v1::ListExchangesRequest request = ListRequest(invocation);
  SLUICE_RETURN_IF_ERROR(ForEachFlagName(invocation, "cause", CauseNames(),
                                         [&](const auto& row) { request.add_causes(row.cause); }));
  const bool finished = !invocation.flag("finished").empty() || !request.causes().empty();
  request.set_selection(!invocation.flag("all").empty()
                            ? v1::ListExchangesRequest::SELECTION_UNSPECIFIED
                        : finished ? v1::ListExchangesRequest::SELECTION_FINISHED
                                   : v1::ListExchangesRequest::SELECTION_LIVE);
  return request;
}

struct Found {
  std::vector<v1::Exchange> exchanges;
  int64_t total = 0;  // of those that were selected
};

/// The first `limit` exchanges, in as many pages as it takes.
absl::StatusOr<Found> ListUpTo(ControlClient& client, v1::ListExchangesRequest request,
                               size_t limit) {
  Found found;
  std::set<std::string> ids;  // one that ends meanwhile comes twice
  do {
    request.set_page_size(static_cast<int32_t>(
        std::min(kMostPerPage, static_cast<int64_t>(limit - found.exchanges.size()))));
    auto page = client.ListExchanges(request);
    if (!page.ok()) return page.status();
    if (request.page_token().empty()) found.total = page->total_size();
    for (v1::Exchange& exchange : *page->mutable_exchanges()) {
      if (ids.insert(exchange.id()).second) found.exchanges.push_back(std::move(exchange));
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && found.exchanges.size() < limit);
  return found;
}

}  // namespace

ExitCode RunExchangeList(CommandContext& context) {
  const auto request = MakeRequest(context.invocation);
  if (!request.ok()) return ReportUsageError(context, request.status());
  constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();
  const auto limit = FlagNumber(context.invocation, "limit", kUnlimited);
  if (!limit.ok()) return ReportUsageError(context, limit.status());
  const auto found =
      ListUpTo(context.client, *request, static_cast<size_t>(*limit == 0 ? kUnlimited : *limit));
  if (!found.ok()) return ReportCallError(found.status(), context.server(), context.world.err);

  if (context.json()) {
    for (const v1::Exchange& exchange : found->exchanges) {
      context.world.out << ToJson(exchange) << "\n";
    }
  } else {
    context.world.out << ExchangeTable(found->exchanges);
  }
  const auto shown = static_cast<int64_t>(found->exchanges.size());
  if (*limit == shown && shown < found->total) {
    context.world.err << "sluicectl: these are " << shown << " of " << found->total
                      << "; --limit 0 shows all\n";
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
