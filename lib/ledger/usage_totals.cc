#include "lib/ledger/usage_totals.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sluice::ledger {
namespace {

int64_t CappedSum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

UsageNames NamesOf(const Exchange& x) {
  const ExchangeInfo& info = x.info();
  return {.principal = info.principal,
          .model = info.model,
          .pool = info.pool,
          .endpoint = x.subject->endpoint};
}

UsageNames Project(const UsageNames& names, const UsageGrouping& group_by) {
  return {.principal = group_by.principal ? names.principal : "",
          .model = group_by.model ? names.model : "",
          .pool = group_by.pool ? names.pool : "",
          .endpoint = group_by.endpoint ? names.endpoint : ""};
}

}  // namespace

void UsageSums::Add(const UsageSums& more) {
  for (const auto sum :
       {&UsageSums::exchanges, &UsageSums::completed, &UsageSums::reported, &UsageSums::partial,
        &UsageSums::unknown, &UsageSums::prompt_tokens, &UsageSums::completion_tokens,
        &UsageSums::total_tokens, &UsageSums::cached_tokens, &UsageSums::reasoning_tokens}) {
    this->*sum = CappedSum(this->*sum, more.*sum);
  }
}

UsageSums SumsOf(const Exchange& x) {
  UsageSums sums = {.exchanges = 1, .completed = x.cause == Cause::kCompleted ? 1 : 0};
  if (!x.usage.has_value()) {
    const bool asked = !x.attempts.empty() && !x.info().model.empty();
    sums.unknown = asked && x.http_status < 400 ? 1 : 0;  // 0: the client left before the head
    return sums;
  }
  sums.reported = 1;
  sums.partial = x.provenance == Provenance::kPartial ? 1 : 0;
  sums.prompt_tokens = x.usage->prompt_tokens;
  sums.completion_tokens = x.usage->completion_tokens;
  sums.total_tokens = x.usage->total_tokens;
  sums.cached_tokens = x.usage->cached_tokens.value_or(0);
  sums.reasoning_tokens = x.usage->reasoning_tokens.value_or(0);
  return sums;
}

void UsageTotals::OnFinished(const Exchange& x) {
  const UsageNames names = NamesOf(x);
  const UsageSums sums = SumsOf(x);
  MutexLock lock(&mutex_);
  UsageSums* row = OwnRowFor(names);
  if (row == nullptr) {
    ++folded_;
    row = &SharedRowFor(names);
  }
  row->Add(sums);
}

UsageSums* UsageTotals::RowFor(const UsageNames& names, size_t max_rows) {
  if (const auto found = rows_.find(names); found != rows_.end()) return &found->second;
  if (rows_.size() >= max_rows) return nullptr;
  return &rows_.try_emplace(Key(names)).first->second;
}

UsageSums* UsageTotals::OwnRowFor(const UsageNames& names) {
  if (const auto found = rows_.find(names); found != rows_.end()) return &found->second;
  if (names.model.size() > kMaxModelBytes || rows_.size() >= max_rows_) return nullptr;
  const UsageNames maker = {.principal = names.principal, .pool = names.pool};
  auto made = made_.find(maker);
  if (made == made_.end()) made = made_.try_emplace(Key(maker)).first;
  if (made->second >= std::max<size_t>(1, max_rows_ / 10)) return nullptr;
  ++made->second;
  return RowFor(names, max_rows_);
}

UsageSums& UsageTotals::SharedRowFor(const UsageNames& names) {
  const size_t more = std::max<size_t>(1, max_rows_ / 10);
  UsageNames shared = names;
  shared.model = kOtherName;
  if (UsageSums* row = RowFor(shared, max_rows_ + more)) return *row;
  shared.principal = kOtherName;
  if (UsageSums* row = RowFor(shared, max_rows_ + 2 * more)) return *row;
  return rows_.try_emplace(Key({kOtherName, kOtherName, kOtherName, kOtherName})).first->second;
}

UsageTotals::Reading UsageTotals::Read(const UsageGrouping& group_by) const {
  Reading reading;
  std::vector<Row> all;
  {
    MutexLock lock(&mutex_);  // as short as can be: exchanges that finish wait for it
    all.reserve(rows_.size());
    for (const auto& [key, sums] : rows_) all.push_back({key, sums});
    reading.folded = folded_;
  }
  absl::flat_hash_map<UsageNames, UsageSums> groups;
  for (const Row& row : all) groups[Project(row.names, group_by)].Add(row.sums);
  for (const auto& [names, sums] : groups) reading.rows.push_back({names, sums});
  std::sort(reading.rows.begin(), reading.rows.end(), [](const Row& a, const Row& b) {
    const auto order = [](const Row& row) {
      return std::tuple(-row.sums.total_tokens, -row.sums.exchanges, row.names.principal,
                        row.names.model, row.names.pool, row.names.endpoint);
    };
    return order(a) < order(b);
  });
  return reading;
}

}  // namespace sluice::ledger
