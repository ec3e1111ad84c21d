#ifndef SLUICE_LIB_UPSTREAM_TRIED_H_
#define SLUICE_LIB_UPSTREAM_TRIED_H_

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sluice::upstream {

/// What a failed attempt rules out for the rest of its exchange.
enum class Spent {
  kPair,      // this key at this endpoint
  kEndpoint,  // the endpoint, with whatever key
  kKey,       // the key, wherever
};

/// The pairs of endpoint and key that an exchange need not try any more. A pool without keys has
/// one, "".
class Tried {
 public:
  void Add(absl::string_view endpoint, absl::string_view key, Spent spent) {
    failures_.push_back({std::string(endpoint), std::string(key), spent});
  }

  bool Allows(absl::string_view endpoint, absl::string_view key) const {
    return std::none_of(failures_.begin(), failures_.end(), [&](const Failure& failure) {
      return (failure.spent == Spent::kKey || failure.endpoint == endpoint) &&
             (failure.spent == Spent::kEndpoint || failure.key == key);
    });
  }

 private:
  struct Failure {
    std::string endpoint;
    std::string key;
    Spent spent;
  };
  std::vector<Failure> failures_;
};

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_TRIED_H_
