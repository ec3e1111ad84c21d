#include "admin/usage_text.h"

#include "absl/strings/str_cat.h"

#include "admin/escape.h"
#include "admin/text_table.h"
#include "admin/wording.h"

namespace sluice::admin {

namespace v1 = ::sluice::control::v1;
using v1::GetUsageRequest;
using v1::UsageTotal;

std::vector<UsageDimension> UsageDimensions() {
  return {{"principal", GetUsageRequest::DIMENSION_PRINCIPAL, "PRINCIPAL",
           [](const UsageTotal& total) { return EscapeName(total.principal()); }},
          {"model", GetUsageRequest::DIMENSION_MODEL, "MODEL",
           [](const UsageTotal& total) { return EscapeName(total.model()); }},
          {"pool", GetUsageRequest::DIMENSION_POOL, "POOL",
           [](const UsageTotal& total) { return EscapeName(total.pool()); }},
          {"endpoint", GetUsageRequest::DIMENSION_ENDPOINT, "ENDPOINT",
           [](const UsageTotal& total) { return EndpointText(total.endpoint()); }}};
}

std::string UsageTable(const v1::GetUsageResponse& usage,
                       absl::Span<const UsageDimension> dimensions) {
  std::vector<TextTable::Column> columns;
  for (const UsageDimension& dimension : dimensions) columns.push_back({dimension.title});
  for (const char* title : {"EXCHANGES", "COMPLETED", "REPORTED", "PARTIAL", "UNKNOWN", "PROMPT",
                            "COMPLETION", "TOTAL", "CACHED", "REASONING"}) {
    columns.push_back({title, true});
  }
  TextTable table(std::move(columns));
  for (const UsageTotal& total : usage.totals()) {
    std::vector<std::string> row;
    for (const UsageDimension& dimension : dimensions) row.push_back(dimension.text(total));
    for (const int64_t number :
         {total.exchanges(), total.completed(), total.reported(), total.partial(), total.unknown(),
          total.prompt_tokens(), total.completion_tokens(), total.total_tokens(),
          total.cached_tokens(), total.reasoning_tokens()}) {
      row.push_back(absl::StrCat(number));
    }
    table.AddRow(std::move(row));
  }
  return table.Text();
}

}  // namespace sluice::admin
