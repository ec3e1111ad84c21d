#include "lib/http/discovery_schedule.h"

#include <algorithm>
#include <utility>

#include "lib/base/log.h"

namespace sluice::http {

void DiscoverySchedule::SetNames(const std::set<std::string>& names) {
  std::erase_if(names_, [&names](const auto& entry) { return !names.contains(entry.first); });
  for (const std::string& name : names) names_.try_emplace(name);
}

std::vector<std::string> DiscoverySchedule::TakeDue(Instant now) {
  std::vector<std::string> due;
  for (auto& [text, name] : names_) {
    if (name.due > now) continue;
    name.due = kNever;
    due.push_back(text);
  }
  return due;
}

Instant DiscoverySchedule::next_due() const {
  Instant next = kNever;
  for (const auto& [text, name] : names_) next = std::min(next, name.due);
  return next;
}

std::optional<std::vector<std::string>> DiscoverySchedule::OnAnswer(
    const std::string& name, absl::StatusOr<FoundAddresses> answer, Instant now) {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  Name& state = found->second;
  if (!answer.ok()) {
    if (state.failures == 0) {
      Log(LogLevel::kWarning, "a name cannot be looked up; its last addresses stay in use",
          {{"name", name},
           {"reason", answer.status().message()},
           {"addresses", state.addresses.size()}});
    }
    constexpr int kMostDoublings = 5;  // to more than kLongestRetry
    const Duration retry = kFirstRetry * (1 << std::min(state.failures, kMostDoublings));
    ++state.failures;
    state.due = now + std::min(retry, kLongestRetry);
    return std::nullopt;
  }

  if (state.failures > 0) {
    Log(LogLevel::kInfo, "a name is found again",
        {{"name", name}, {"addresses", answer->addresses.size()}});
  }
  state.failures = 0;
  state.due = now + std::clamp(answer->time_to_live, kShortestLife, kLongestLife);
  std::vector<std::string> addresses = std::move(answer->addresses);
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  if (addresses == state.addresses) return std::nullopt;
  state.addresses = addresses;
  return addresses;
}

}  // namespace sluice::http
