#ifndef SLUICE_LIB_RUNTIME_WAKE_H_
#define SLUICE_LIB_RUNTIME_WAKE_H_

namespace sluice::runtime {

/// Why a wait returned.
enum class Wake {
  kReady,        // what was waited for is there
  kDeadline,     // the deadline passed first
  kInterrupted,  // somebody fired the fiber's Interrupter
};

/// Which interrupts end a wait. kHeedNew lets a fiber that was interrupted wait once more, to say
/// good-bye, and still be interrupted by what comes in the meantime.
enum class Interrupts {
  kHeed,     // any that was fired since Interrupter::Arm()
  kHeedNew,  // only one fired while this wait lasts
  kIgnore,
};

}  // namespace sluice::runtime

#endif  // SLUICE_LIB_RUNTIME_WAKE_H_
