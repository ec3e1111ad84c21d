#ifndef SLUICE_LIB_BASE_SECRET_H_
#define SLUICE_LIB_BASE_SECRET_H_

#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace sluice {

/// A key or token. It has no printing, no comparison and no conversion: the one way to its bytes is
/// Reveal(), which is easy to search for.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}

  bool empty() const { return bytes_.empty(); }
  absl::string_view Reveal() const { return bytes_; }

  /// Compares in time that depends only on the lengths.
  bool EqualsConstantTime(absl::string_view other) const {
    if (other.size() != bytes_.size()) return false;
    unsigned char difference = 0;
    for (size_t i = 0; i < other.size(); ++i) {
      difference |= static_cast<unsigned char>(bytes_[i] ^ other[i]);
    }
    return difference == 0;
  }

 private:
  std::string bytes_;
};

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_SECRET_H_
