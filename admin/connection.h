#ifndef SLUICE_ADMIN_CONNECTION_H_
#define SLUICE_ADMIN_CONNECTION_H_

#include <string>

#include "absl/status/statusor.h"

#include "admin/command_line.h"
#include "lib/base/secret.h"

namespace sluice::admin {

/// How to reach a server, and as whom.
struct Connection {
  std::string server;  // HOST:PORT or unix:PATH
  Secret token;        // goes with every call; empty: none does
  bool tls = false;
  // The rest is for TLS; texts in PEM.
  std::string authorities;  // who may vouch for the server; "": whom the system trusts
  std::string certificate;  // ours; "": none
  std::string key;
  std::string server_name;  // what the server's certificate must be for; "": the host of `server`
};

/// What the flags of every command and SLUICE_TOKEN say; reads the files they name.
/// INVALID_ARGUMENT: they contradict each other, a file cannot be used, or the token would go to
/// another host in clear.
absl::StatusOr<Connection> MakeConnection(const Invocation& invocation,
                                          const Environment& environment);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_CONNECTION_H_
