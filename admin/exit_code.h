#ifndef SLUICE_ADMIN_EXIT_CODE_H_
#define SLUICE_ADMIN_EXIT_CODE_H_

namespace sluice::admin {

/// What sluicectl ends with; part of its interface, so never renumbered.
enum class ExitCode {
  kOk = 0,
  kError = 1,          // the server refused or failed, in no way named below
  kUsage = 2,          // the command line is wrong; nothing was sent
  kUnreachable = 3,    // no answer from the server
  kConflict = 4,       // somebody else changed it first, or it has ended already
  kNotFound = 5,       // there is no such thing
  kInvalidConfig = 6,  // the configuration has violations, all of them listed
};

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_EXIT_CODE_H_
