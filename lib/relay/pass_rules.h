#ifndef SLUICE_LIB_RELAY_PASS_RULES_H_
#define SLUICE_LIB_RELAY_PASS_RULES_H_

#include "lib/dialect/dialect.h"

namespace sluice::relay {

/// Which frames of an event stream are for the client; by default, all.
struct PassRules {
  bool only_valid_frames = false;  // `relay: VALID_FRAMES`
  bool hide_usage_chunk = false;   // `ask_usage`, and the client did not ask itself

  bool PassAll() const { return !only_valid_frames && !hide_usage_chunk; }
  bool Pass(const dialect::FrameView& frame) const {
    return !(only_valid_frames && !frame.valid) && !(hide_usage_chunk && frame.usage_chunk);
  }
};

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_PASS_RULES_H_
