#ifndef SLUICE_SERVER_SUPERVISOR_H_
#define SLUICE_SERVER_SUPERVISOR_H_

#include <string>

#include "absl/strings/string_view.h"

namespace sluice::server {

/// What started the process and wants to know how it is: systemd, for units of Type=notify, or
/// whatever else sets NOTIFY_SOCKET as sd_notify(3) says. Without that variable nobody is told.
class Supervisor {
 public:
  /// From the environment.
  Supervisor();

  void TellReady() const { Tell("READY=1"); }
  void TellReloading() const;
  void TellStopping() const { Tell("STOPPING=1"); }

 private:
  /// A failure is logged, and has no other consequence.
  void Tell(absl::string_view state) const;

  const std::string socket_path_;  // "": nobody
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_SUPERVISOR_H_
