#include "lib/config/store.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "lib/base/ids.h"
#include "lib/config/validate.h"

namespace sluice::config {
namespace {

/// Unlike for every version of every run, so that an etag read before a restart is never taken for
/// a current one.
std::string EtagOf(uint64_t generation) {
  return absl::StrFormat("%016x-%d", BootEpoch(), generation);
}

}  // namespace

Store::Store(const Clock& clock)
    : clock_(clock),
      current_(
          std::make_shared<const Snapshot>(Config{}, Secrets(), 0, EtagOf(0), clock.WallNow())) {}

std::shared_ptr<const Snapshot> Store::Current() const {
  MutexLock lock(&mutex_);
  return current_;
}

absl::StatusOr<std::shared_ptr<const Snapshot>> Store::Update(Config config,
                                                              absl::string_view expected_etag) {
  if (const std::vector<Violation> violations = Validate(config); !violations.empty()) {
    return absl::InvalidArgumentError(ToString(violations));
  }
  Secrets secrets;
  if (const std::vector<Violation> violations = ReadSecrets(config, &secrets);
      !violations.empty()) {
    return absl::InvalidArgumentError(ToString(violations));
  }

  MutexLock update_lock(&update_mutex_);
  const std::shared_ptr<const Snapshot> before = Current();
  if (expected_etag != before->etag()) {
    return absl::AbortedError(
        absl::StrCat("the configuration has changed: its etag is now ", before->etag()));
  }
  const uint64_t generation = before->generation() + 1;
  const auto after = std::make_shared<const Snapshot>(
      std::move(config), std::move(secrets), generation, EtagOf(generation), clock_.WallNow());
  {
    MutexLock lock(&mutex_);
    current_ = after;
  }
  for (const auto& listener : listeners_) listener(after);
  return after;
}

void Store::AddListener(std::function<void(const std::shared_ptr<const Snapshot>&)> listener) {
  MutexLock lock(&update_mutex_);
  listeners_.push_back(std::move(listener));
}

}  // namespace sluice::config
