#include "lib/config/store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "lib/base/ids.h"
#include "lib/base/log.h"
#include "lib/base/status.h"

namespace sluice::config {
namespace {

/// Unlike for every version of every run, so that an etag read before a restart is taken for a
/// current one only if it is of a version that was stored.
std::string EtagOf(uint64_t generation) {
  return absl::StrFormat("%016x-%d", BootEpoch(), generation);
}

}  // namespace

Store::Store(const Clock& clock)
    : clock_(clock),
      current_(std::make_shared<const Snapshot>(
          std::make_shared<const Version>(Version{.etag = EtagOf(0), .time = clock.WallNow()}),
          Secrets(), 0)) {}

absl::Status Store::Open(std::unique_ptr<Backend> backend) {
  MutexLock update_lock(&update_mutex_);
  SLUICE_ASSIGN_OR_RETURN(std::vector<Version> kept, backend->Load());
  backend_ = std::move(backend);
  if (kept.empty()) return absl::OkStatus();

  const std::string place = backend_->PlaceOf(kept.back().generation);
  if (const auto violations = Validate(kept.back().config); !violations.empty()) {
    return absl::DataLossError(absl::StrCat(place, ":\n", ToString(violations)));
  }
  Secrets secrets;
  for (const UnreadableKey& unreadable : ReadSecrets(kept.back().config, &secrets)) {
    Log(LogLevel::kWarning, "a key of a pool cannot be read; it is not used until it can be",
        {{"pool", unreadable.pool.id},
         {"key", unreadable.key.id},
         {"reason", unreadable.violation.reason}});
  }
  MutexLock lock(&mutex_);
  for (Version& version : kept) {
    versions_.push_front(std::make_shared<const Version>(std::move(version)));
  }
  versions_.resize(std::min(versions_.size(), kVersionsKept));
  current_ = std::make_shared<const Snapshot>(versions_.front(), std::move(secrets), 1);
  return absl::OkStatus();
}

std::shared_ptr<const Snapshot> Store::Current() const {
  MutexLock lock(&mutex_);
  return current_;
}

std::vector<Violation> Store::Check(const Config& config) const {
  Secrets ignored;
  return Check(config, &ignored);
}

std::vector<Violation> Store::Check(const Config& config, Secrets* secrets) const {
  std::vector<Violation> violations = Validate(config);
  if (!violations.empty()) return violations;
  const std::shared_ptr<const Snapshot> current = Current();
  for (UnreadableKey& unreadable : ReadSecrets(config, secrets)) {
    const Pool* pool = current->FindPool(unreadable.pool.id);
    const bool as_before = pool != nullptr && std::find(pool->keys.begin(), pool->keys.end(),
                                                        unreadable.key) != pool->keys.end();
    if (!as_before) {
      violations.push_back(std::move(unreadable.violation));
    } else if (const Secret& held = current->SecretOf(*pool, unreadable.key); !held.empty()) {
      secrets->Add(pool->id, unreadable.key.id, held);
    }
  }
  return violations;
}

std::vector<std::shared_ptr<const Version>> Store::Versions() const {
  MutexLock lock(&mutex_);
  return {versions_.begin(), versions_.end()};
}

std::shared_ptr<const Version> Store::FindVersion(uint64_t generation) const {
  MutexLock lock(&mutex_);
  const auto found = std::find_if(versions_.begin(), versions_.end(), [&](const auto& version) {
    return version->generation == generation;
  });
  return found == versions_.end() ? nullptr : *found;
}

absl::StatusOr<std::shared_ptr<const Snapshot>> Store::Update(Config config,
                                                              absl::string_view expected_etag,
                                                              Authorship by,
                                                              std::vector<Violation>* violations) {
  SLUICE_RETURN_IF_ERROR(CheckEtag(expected_etag));  // before the work; it counts below
  Secrets secrets;
  if (std::vector<Violation> found = Check(config, &secrets); !found.empty()) {
    const absl::Status invalid = absl::InvalidArgumentError(ToString(found));
    if (violations != nullptr) *violations = std::move(found);
    return invalid;
  }

  MutexLock update_lock(&update_mutex_);
  SLUICE_RETURN_IF_ERROR(CheckEtag(expected_etag));
  const uint64_t generation = Current()->generation() + 1;
  const auto version = std::make_shared<const Version>(Version{.config = std::move(config),
                                                               .generation = generation,
                                                               .etag = EtagOf(generation),
                                                               .time = clock_.WallNow(),
                                                               .by = std::move(by)});
  const auto snapshot =
      std::make_shared<const Snapshot>(version, std::move(secrets), NextEdition());
  if (backend_ != nullptr) {
    if (const absl::Status stored = backend_->Append(*version); !stored.ok()) {
      return absl::UnavailableError(
          absl::StrCat("the configuration could not be stored: ", stored.message()));
    }
  }
  MakeCurrent(version, snapshot);
  if (backend_ != nullptr && generation > kVersionsKept) {
    backend_->DropBefore(generation - kVersionsKept + 1);
  }
  for (const auto& listener : listeners_) listener(snapshot);
  return snapshot;
}

bool Store::ReloadSecrets(Unreadable* unreadable) {
  MutexLock update_lock(&update_mutex_);
  const std::shared_ptr<const Snapshot> current = Current();
  Secrets secrets;
  *unreadable = {current, {}};
  for (UnreadableKey& key : ReadSecrets(current->config(), &secrets)) {
    const Secret& held = current->SecretOf(key.pool, key.key);
    if (!held.empty()) secrets.Add(key.pool.id, key.key.id, held);
    unreadable->keys.push_back(std::move(key));
  }
  if (secrets.Equals(current->secrets())) return false;
  std::shared_ptr<const Version> version;
  {
    MutexLock lock(&mutex_);
    version = versions_.front();
  }
  const auto snapshot =
      std::make_shared<const Snapshot>(std::move(version), std::move(secrets), NextEdition());
  {
    MutexLock lock(&mutex_);
    current_ = snapshot;
  }
  for (const auto& listener : listeners_) listener(snapshot);
  return true;
}

void Store::AddListener(std::function<void(const std::shared_ptr<const Snapshot>&)> listener) {
  MutexLock lock(&update_mutex_);
  listeners_.push_back(std::move(listener));
}

absl::Status Store::CheckEtag(absl::string_view expected) const {
  const std::shared_ptr<const Snapshot> current = Current();
  if (expected == current->etag()) return absl::OkStatus();
  return absl::AbortedError(
      absl::StrCat("the configuration has changed: its etag is now ", current->etag()));
}

void Store::MakeCurrent(std::shared_ptr<const Version> version,
                        std::shared_ptr<const Snapshot> snapshot) {
  MutexLock lock(&mutex_);
  current_ = std::move(snapshot);
  versions_.push_front(std::move(version));
  if (versions_.size() > kVersionsKept) versions_.pop_back();
}

}  // namespace sluice::config
