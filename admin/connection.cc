#include "admin/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "admin/escape.h"
#include "lib/base/local_address.h"
#include "lib/base/status.h"

namespace sluice::admin {
namespace {

constexpr char kSystem[] = "system";
constexpr size_t kMaxTokenBytes = 1024;

/// The text of the file that the flag `name` names; "" if it names none.
absl::StatusOr<std::string> ReadFileOf(const Invocation& invocation, absl::string_view name) {
  const std::string path(invocation.flag(name));
  if (path.empty()) return "";
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file || text.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--", name, ": cannot read ", EscapeText(path),
                                                   ": ",
                                                   errno == 0 ? "it is empty" : strerror(errno)));
  }
  return text;
}

absl::StatusOr<Secret> FindToken(const Invocation& invocation, const Environment& environment) {
  SLUICE_ASSIGN_OR_RETURN(std::string token, ReadFileOf(invocation, "token-file"));
  if (token.empty()) token = environment("SLUICE_TOKEN").value_or("");
  absl::StripAsciiWhitespace(&token);
  if (token.size() > kMaxTokenBytes ||
      !std::all_of(token.begin(), token.end(), absl::ascii_isgraph)) {
    return absl::InvalidArgumentError(
        "what --token-file or SLUICE_TOKEN gives is no token: one word of printable ASCII");
  }
  return Secret(std::move(token));
}

}  // namespace

absl::StatusOr<Connection> MakeConnection(const Invocation& invocation,
                                          const Environment& environment) {
  Connection connection;
  connection.server = std::string(invocation.flag("server"));
  connection.server_name = std::string(invocation.flag("tls-server-name"));
  SLUICE_ASSIGN_OR_RETURN(connection.token, FindToken(invocation, environment));
  connection.tls = !invocation.flag("tls-ca").empty();
  if (invocation.flag("tls-ca") != kSystem) {
    SLUICE_ASSIGN_OR_RETURN(connection.authorities, ReadFileOf(invocation, "tls-ca"));
  }
  SLUICE_ASSIGN_OR_RETURN(connection.certificate, ReadFileOf(invocation, "tls-cert"));
  SLUICE_ASSIGN_OR_RETURN(connection.key, ReadFileOf(invocation, "tls-key"));
  if (connection.certificate.empty() != connection.key.empty()) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key go together: give both or none");
  }
  if (!connection.tls && !(connection.certificate.empty() && connection.server_name.empty())) {
    return absl::InvalidArgumentError(
        "--tls-cert, --tls-key and --tls-server-name need --tls-ca: a file, or `system`");
  }
  const bool local =
      IsLocalAddress(connection.server) || absl::StartsWith(connection.server, "localhost:");
  if (!connection.token.empty() && !connection.tls && !local) {
    return absl::InvalidArgumentError(
        absl::StrCat("a token does not go to another host in clear, and --server is ",
                     EscapeText(connection.server), ": give --tls-ca, a file or `system`"));
  }
  return connection;
}

}  // namespace sluice::admin
