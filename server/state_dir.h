#ifndef SLUICE_SERVER_STATE_DIR_H_
#define SLUICE_SERVER_STATE_DIR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "lib/config/backend.h"

namespace sluice::server {

/// Versions of the configuration as files of a directory, `config-00000000000000000042.json` for
/// generation 42, each the JSON of a `sluice.control.v1.StoredConfig`. A file is there whole or not
/// at all; files of other names are nobody's business. The directory is locked (flock) for the life
/// of the object. The messages of all errors begin with a path.
class StateDir final : public config::Backend {
 public:
  /// FAILED_PRECONDITION: another process has it. Another code, e.g. NOT_FOUND: it cannot be used.
  static absl::StatusOr<std::unique_ptr<StateDir>> Open(const std::string& path);
  ~StateDir() override;
  StateDir(const StateDir&) = delete;
  StateDir& operator=(const StateDir&) = delete;

  /// An earlier version that cannot be read is left out with a warning in the log.
  absl::StatusOr<std::vector<config::Version>> Load() override;
  std::string PlaceOf(uint64_t generation) const override;
  absl::Status Append(const config::Version& version) override;
  void DropBefore(uint64_t generation) override;

 private:
  StateDir(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  /// In order.
  absl::StatusOr<std::vector<uint64_t>> Generations() const;
  absl::StatusOr<config::Version> Read(uint64_t generation) const;

  const std::string path_;
  const int fd_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_STATE_DIR_H_
