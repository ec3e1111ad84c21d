#ifndef SLUICE_LIB_EXCHANGE_STATE_CHANGES_H_
#define SLUICE_LIB_EXCHANGE_STATE_CHANGES_H_

#include <string>

#include "absl/time/time.h"

namespace sluice {

/// An endpoint gets attempts, or no more.
struct EndpointStateChanged {
  enum class State {
    kActive,
    kDraining,  // gets no new attempts
    kRemoved,   // is in the configuration no more
    kEjected,   // fails: gets no attempts before `until`
    kTrial,     // gets one at a time, to show whether it is well again
  };
  std::string pool;      // by its id
  std::string endpoint;  // "pools/chat/endpoints/a"
  State state = State::kActive;
  std::string detail = "";  // for people: who made the change, and why
  /// Of an ejected one; InfiniteFuture: until probes of it succeed.
  absl::Time until = absl::InfinitePast();
};

/// An upstream key is used, or no more.
struct KeyStateChanged {
  enum class State {
    kActive,
    kResting,     // not used before `until`
    kRefused,     // not used before the next change of the configuration
    kUnreadable,  // has no value: not used until it can be read
  };
  std::string pool;    // by its id
  std::string key_id;  // names the key, is not the key
  State state = State::kActive;
  absl::Time until = absl::InfinitePast();  // of a resting key
};

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_STATE_CHANGES_H_
