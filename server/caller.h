#ifndef SLUICE_SERVER_CALLER_H_
#define SLUICE_SERVER_CALLER_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace sluice::server {

/// What a caller of the control API may do; each role includes those before it.
enum class Role {
  kViewer,    // see what the gateway does
  kTailer,    // see the text of streams
  kOperator,  // change what it does
};

inline constexpr Role kRoles[] = {Role::kViewer, Role::kTailer, Role::kOperator};

/// "viewer", "tailer", "operator".
constexpr absl::string_view RoleName(Role role) {
  switch (role) {
    case Role::kViewer:
      return "viewer";
    case Role::kTailer:
      return "tailer";
    case Role::kOperator:
      return "operator";
  }
  return "";
}

inline std::optional<Role> ParseRole(absl::string_view name) {
  for (const Role role : kRoles) {
    if (name == RoleName(role)) return role;
  }
  return std::nullopt;
}

/// Who makes a call.
struct Caller {
  std::string name;  // for audit and records, fit to show; "" if it is nobody known
  Role role = Role::kViewer;
  std::string peer = "";  // its address, fit to show
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_CALLER_H_
