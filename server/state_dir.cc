#include "server/state_dir.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

#include "lib/base/log.h"
#include "lib/base/read_file.h"
#include "lib/base/status.h"
#include "server/config_convert.h"
#include "server/durable_file.h"
#include "server/proto_json.h"
#include "server/proto_time.h"
#include "sluice/control/v1/stored_config.pb.h"

namespace sluice::server {
namespace {

constexpr char kUnfinished[] = "unfinished.tmp";

std::string NameOf(uint64_t generation) { return absl::StrFormat("config-%020d.json", generation); }

/// The reverse of NameOf; nothing for any other name.
std::optional<uint64_t> GenerationOf(const std::string& name) {
  absl::string_view digits = name;
  uint64_t generation = 0;
  if (!absl::ConsumePrefix(&digits, "config-") || !absl::ConsumeSuffix(&digits, ".json") ||
      !absl::SimpleAtoi(digits, &generation) || NameOf(generation) != name) {
    return std::nullopt;
  }
  return generation;
}

absl::StatusOr<config::Version> Parse(absl::string_view json) {
  control::v1::StoredConfig stored;
  SLUICE_RETURN_IF_ERROR(FromJson(json, &stored));
  std::vector<config::Violation> violations;
  config::Version version{
      .config = FromProto(stored.config(), &violations),
      .generation = static_cast<uint64_t>(stored.config().generation()),
      .etag = stored.config().etag(),
      .time = FromProto(stored.config().update_time()),
      .by = {.author = stored.author(), .origin = stored.origin()},
  };
  if (version.etag.empty()) violations.push_back({"config.etag", "is missing"});
  if (!violations.empty()) return absl::InvalidArgumentError(config::ToString(violations));
  return version;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StateDir>> StateDir::Open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  std::unique_ptr<StateDir> directory(new StateDir(path, fd));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return absl::ErrnoToStatus(errno, path);
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is in use by another process; each sluiced needs its own"));
  }
  return directory;
}

StateDir::~StateDir() { ::close(fd_); }

absl::StatusOr<std::vector<config::Version>> StateDir::Load() {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<uint64_t> generations, Generations());
  std::vector<config::Version> versions;
  for (const uint64_t generation : generations) {
    absl::StatusOr<config::Version> version = Read(generation);
    if (version.ok()) {
      versions.push_back(*std::move(version));
    } else if (generation != generations.back()) {
      Log(LogLevel::kWarning, "an earlier version of the configuration is lost",
          {{"error", std::string(version.status().message())}});
    } else {
      return absl::DataLossError(absl::StrCat(
          version.status().message(),
          "\nThis is the latest version of the configuration. Mend it, or take it away to start "
          "with the version before it, or with --config if there is none."));
    }
  }
  return versions;
}

absl::Status StateDir::Append(const config::Version& version) {
  control::v1::StoredConfig stored;
  *stored.mutable_config() = ToProto(version);
  stored.set_author(version.by.author);
  stored.set_origin(version.by.origin);
  const absl::Status written = WriteDurably(fd_, NameOf(version.generation),
                                            ToJson(stored, JsonLayout::kIndented), kUnfinished);
  if (written.ok()) return written;
  return absl::Status(written.code(),
                      absl::StrCat(PlaceOf(version.generation), ": ", written.message()));
}

void StateDir::DropBefore(uint64_t generation) {
  const absl::StatusOr<std::vector<uint64_t>> generations = Generations();
  if (!generations.ok()) return;
  for (const uint64_t old : *generations) {
    if (old < generation) ::unlinkat(fd_, NameOf(old).c_str(), 0);
  }
}

std::string StateDir::PlaceOf(uint64_t generation) const {
  return absl::StrCat(path_, "/", NameOf(generation));
}

absl::StatusOr<std::vector<uint64_t>> StateDir::Generations() const {
  std::vector<uint64_t> generations;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (const auto generation = GenerationOf(entry->path().filename().string())) {
      generations.push_back(*generation);
    }
  }
  if (error) return absl::ErrnoToStatus(error.value(), path_);
  std::sort(generations.begin(), generations.end());
  return generations;
}

absl::StatusOr<config::Version> StateDir::Read(uint64_t generation) const {
  const std::string path = PlaceOf(generation);
  SLUICE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  absl::StatusOr<config::Version> version = Parse(text);
  if (version.ok() && version->generation != generation) {
    version = absl::InvalidArgumentError(
        absl::StrCat("is of generation ", version->generation, " by its content"));
  }
  if (version.ok()) return version;
  return absl::Status(version.status().code(),
                      absl::StrCat(path, ": ", version.status().message()));
}

}  // namespace sluice::server
