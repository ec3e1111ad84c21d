#ifndef SLUICE_LIB_ADMISSION_CLIENT_KEYS_H_
#define SLUICE_LIB_ADMISSION_CLIENT_KEYS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "lib/base/access_file.h"
#include "lib/base/mutex.h"
#include "lib/exchange/message.h"

namespace sluice::admission {

/// The key that a client shows: the token of `Authorization: Bearer` (RFC 6750 section 2.1), or the
/// value of `x-api-key` or `api-key`. The same key may be in several fields; nothing when they hold
/// different ones, or none. Borrowed from `headers`.
std::optional<absl::string_view> CredentialOf(const HeaderList& headers);

/// Whose key is whose, as a keys file says. Immutable.
///
/// One a line, blank lines and lines that begin with `#` apart:
///
///     PRINCIPAL SHA256HEX            whoever has the key of this SHA-256 is PRINCIPAL
///     PRINCIPAL SHA256HEX EXPIRES    until then: RFC 3339, as 2027-01-31T00:00:00Z
///
/// A principal may have several keys, and so can get a new one before the old one goes.
class ClientKeys {
 public:
  /// INVALID_ARGUMENT: the message lists the wrong lines by number, and no text of them, since that
  /// may be a key; or the file holds no key.
  static absl::StatusOr<ClientKeys> Parse(absl::string_view text);

  /// The principal whose key it is, or null if it is nobody's or has expired. Takes as long for any
  /// key of the same length: about 1 ns for each key of the file.
  const std::string* Find(absl::string_view key, absl::Time now) const;

  size_t size() const { return entries_.size(); }

 private:
  using Hash = std::array<uint64_t, 4>;  // the 32 bytes of a SHA-256, as they lie
  struct Entry {
    std::string principal;
    absl::Time expires = absl::InfiniteFuture();
  };

  static Hash HashOf(absl::string_view key);
  /// The problem with a line of those fields; "" if there is none.
  std::string Add(const std::vector<absl::string_view>& fields);

  std::vector<Hash> hashes_;
  std::vector<Entry> entries_;  // beside `hashes_`
};

/// A keys file in use. A new text that is wrong, or a file that is gone, changes nothing and is
/// logged once. Thread-safe, but for Reload.
class ClientKeysFile {
 public:
  /// Other codes: the file cannot be read; INVALID_ARGUMENT: its text is wrong, it is no regular
  /// file, or anybody may write it. The message begins with the path.
  static absl::StatusOr<std::unique_ptr<ClientKeysFile>> Open(const std::string& path);

  /// Never null; never touches the disk.
  std::shared_ptr<const ClientKeys> Current() const;

  /// Takes in what has changed on the disk since the last look; `anyway`: reads it even if nothing
  /// seems to have, so that the log says again what is wrong with it. By one thread, about once a
  /// second.
  void Reload(bool anyway = false);

 private:
  explicit ClientKeysFile(const std::string& path) : file_(path) {}
  absl::Status Load();

  AccessFile file_;
  mutable Mutex mutex_;
  std::shared_ptr<const ClientKeys> keys_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::admission

#endif  // SLUICE_LIB_ADMISSION_CLIENT_KEYS_H_
