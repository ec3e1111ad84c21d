#ifndef SLUICE_LIB_CONFIG_CHECKS_H_
#define SLUICE_LIB_CONFIG_CHECKS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "lib/config/config.h"
#include "lib/config/validate.h"

/// What Validate is made of; nobody else uses it. Each check adds the violations it finds, with the
/// path of the field.
namespace sluice::config {

class Checks {
 public:
  using Ids = std::set<absl::string_view>;  // borrowed from the configuration

  std::vector<Violation> Take() { return std::move(violations_); }

  void Add(absl::string_view path, absl::string_view reason) {
    violations_.push_back({std::string(path), std::string(reason)});
  }
  /// AIP-122, unique among `seen`.
  void CheckId(absl::string_view id, absl::string_view path, Ids* seen);
  /// A name or a pattern as routes have it.
  void CheckModel(absl::string_view model, absl::string_view path);
  /// The name of a header field that a request may have or be given; none that frames it.
  void CheckFieldName(absl::string_view name, absl::string_view path);
  void CheckDuration(Duration value, Duration least, Duration most, absl::string_view path);

  template <typename Number>
  void CheckRange(Number value, Number least, Number most, absl::string_view path) {
    if (value >= least && value <= most) return;  // also false for what is no number
    Add(path, absl::StrCat("must be from ", least, " to ", most, ", is ", value));
  }

 private:
  std::vector<Violation> violations_;
};

void CheckPools(const std::vector<Pool>& pools, Checks& checks, Checks::Ids* ids);
/// `pools`: the ids of those there are.
void CheckRoutes(const std::vector<Route>& routes, const Checks::Ids& pools, Checks& checks);
void CheckPrincipals(const std::vector<Principal>& principals, Checks& checks);

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_CHECKS_H_
