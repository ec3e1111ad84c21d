#ifndef SLUICE_LIB_CONFIG_SECRETS_H_
#define SLUICE_LIB_CONFIG_SECRETS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "lib/base/secret.h"
#include "lib/config/config.h"
#include "lib/config/validate.h"

namespace sluice::config {

/// The values of all keys of a configuration, apart from it, so that nothing that shows or compares
/// configurations can show them.
class Secrets {
 public:
  void Add(absl::string_view pool, absl::string_view key, Secret secret);
  /// Empty when there is none.
  const Secret& Find(absl::string_view pool, absl::string_view key) const;
  /// Whether both have the same values for the same keys.
  bool Equals(const Secrets& other) const;

 private:
  std::map<std::pair<std::string, std::string>, Secret> secrets_;
};

/// A key whose value cannot be used, of the configuration that was read; it must outlive this.
struct UnreadableKey {
  const Pool& pool;
  const Key& key;
  Violation violation;
};

/// Reads the value of each key of `config`, which has passed Validate. Returns those that cannot be
/// used: not there, not readable, empty, over 8 KiB, or not fit for a header field. May block on
/// the disk; thread-safe as far as nobody changes the environment.
std::vector<UnreadableKey> ReadSecrets(const Config& config, Secrets* secrets);

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_SECRETS_H_
