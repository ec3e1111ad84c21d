#include <algorithm>
#include <array>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/flag_values.h"
#include "admin/json.h"

namespace sluice::admin {
namespace {

using Bytes = std::array<unsigned char, 32>;

absl::string_view View(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool IsRole(absl::string_view text) {
  return text == "viewer" || text == "tailer" || text == "operator";
}

bool IsName(absl::string_view text) {
  return !text.empty() && text.size() <= 128 &&
         std::all_of(text.begin(), text.end(), absl::ascii_isgraph);
}

}  // namespace

ExitCode RunTokenNew(CommandContext& context) {
  const std::string& name = context.invocation.arguments[0];
  const absl::string_view role = context.invocation.flag("role");
  if (!IsName(name)) {
    return ReportUsageError(
        context, absl::InvalidArgumentError(absl::StrCat(
                     "NAME is up to 128 printable ASCII characters: ", EscapeText(name))));
  }
  if (!IsRole(role)) {
    return ReportUsageError(context,
                            WrongFlag("role", "not one of viewer, tailer, operator", role));
  }
  Bytes random;
  if (RAND_bytes(random.data(), random.size()) != 1) {
    context.world.err << "sluicectl: the system gives no random bytes\n";
    return ExitCode::kError;
  }
  std::string encoded;
  absl::WebSafeBase64Escape(View(random), &encoded);
  const std::string token = absl::StrCat("sluice_", encoded);
  Bytes hash;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  const std::string line = absl::StrCat(role, " ", name, " ", absl::BytesToHexString(View(hash)));
  if (context.json()) {
    context.world.out << "{\"token\":" << JsonString(token) << ",\"line\":" << JsonString(line)
                      << "}\n";
  } else {
    context.world.out << "token  " << token << "\nline   " << line << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
