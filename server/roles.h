#ifndef SLUICE_SERVER_ROLES_H_
#define SLUICE_SERVER_ROLES_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "lib/base/access_file.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "server/caller.h"

namespace sluice::server {

/// Who has which role, as a roles file says. Immutable.
///
/// One a line, blank lines and lines that begin with `#` apart:
///
///     ROLE NAME SHA256HEX   whoever has the token of this SHA-256 is NAME
///     ROLE NAME             whoever has a client certificate for NAME is NAME
///
/// A name may have several tokens, and so can get a new one before the old one goes.
class Roles {
 public:
  struct Entry {
    Role role;
    std::string name;
  };

  /// INVALID_ARGUMENT: the message lists every wrong line with its number, and no text of it, since
  /// that may be a token; or the file names nobody.
  static absl::StatusOr<Roles> Parse(absl::string_view text);

  /// Null: nobody has it. Takes as long for any token of the same length.
  const Entry* FindToken(absl::string_view token) const;
  /// The first entry for one of the names that a certificate is for. Null: there is none.
  const Entry* FindCertificate(const std::vector<absl::string_view>& names) const;

  bool has_tokens() const { return !tokens_.empty(); }

 private:
  using Hash = std::array<unsigned char, 32>;
  struct Token {
    Entry entry;
    Hash hash;
  };

  /// The problem with a line of those fields; "" if there is none.
  std::string Add(const std::vector<absl::string_view>& fields);

  std::vector<Token> tokens_;
  std::vector<Entry> certificates_;
};

/// A roles file in use: a change of it holds for the next call that comes a second later. A new
/// text that is wrong, or a file that is gone, changes nothing and is logged. Thread-safe.
class RolesFile {
 public:
  /// Other codes: the file cannot be read; INVALID_ARGUMENT: its text is wrong, or anybody may
  /// write it. The message begins with the path. `clock` must outlive it.
  static absl::StatusOr<std::unique_ptr<RolesFile>> Open(const Clock& clock,
                                                         const std::string& path);

  std::shared_ptr<const Roles> Current();
  /// Reads the file now, whether it seems to have changed or not.
  void Reload();

 private:
  RolesFile(const Clock& clock, const std::string& path) : clock_(clock), file_(path) {}
  absl::Status Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// `changed`: the log is told of success too.
  void LoadAndTell(bool changed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  Mutex mutex_;
  Instant next_look_ ABSL_GUARDED_BY(mutex_);
  AccessFile file_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const Roles> roles_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_ROLES_H_
