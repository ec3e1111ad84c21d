#include "server/roles.h"

#include <algorithm>
#include <chrono>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "lib/base/log.h"
#include "lib/base/status.h"

namespace sluice::server {
namespace {

constexpr Duration kLookInterval = std::chrono::seconds(1);
constexpr size_t kMaxNameBytes = 128;

bool IsName(absl::string_view text) {
  return text.size() <= kMaxNameBytes && std::all_of(text.begin(), text.end(), absl::ascii_isgraph);
}

}  // namespace

absl::StatusOr<Roles> Roles::Parse(absl::string_view text) {
  Roles roles;
  std::vector<std::string> problems =
      ReadAccessLines(text, [&roles](const auto& fields) { return roles.Add(fields); });
  if (problems.empty() && roles.tokens_.empty() && roles.certificates_.empty()) {
    problems.push_back("names nobody; `sluicectl token new NAME` makes a line");
  }
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
  return roles;
}

std::string Roles::Add(const std::vector<absl::string_view>& fields) {
  if (fields.size() != 2 && fields.size() != 3) {
    return "is not ROLE NAME, nor ROLE NAME SHA256HEX";
  }
  const std::optional<Role> role = ParseRole(fields[0]);
  if (!role.has_value()) return "begins with no role: viewer, tailer or operator";
  if (!IsName(fields[1])) {
    return absl::StrCat("has a name that is not of 1 to ", kMaxNameBytes,
                        " printable ASCII characters");
  }
  const Entry entry{*role, std::string(fields[1])};
  if (fields.size() == 2) {
    const bool twice = FindCertificate({entry.name}) != nullptr;
    certificates_.push_back(entry);
    return twice ? "gives the certificate of a line before it another role" : "";
  }
  Token token{entry, {}};
  if (fields[2].size() != 2 * token.hash.size() ||
      !std::all_of(fields[2].begin(), fields[2].end(), absl::ascii_isxdigit)) {
    return "ends with no SHA-256 in hex (64 digits); the token itself does not belong here";
  }
  const std::string bytes = absl::HexStringToBytes(fields[2]);
  std::copy(bytes.begin(), bytes.end(), token.hash.begin());
  const bool twice = std::any_of(tokens_.begin(), tokens_.end(),
                                 [&](const Token& other) { return other.hash == token.hash; });
  tokens_.push_back(std::move(token));
  return twice ? "has the token of a line before it" : "";
}

const Roles::Entry* Roles::FindToken(absl::string_view token) const {
  Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  const Entry* found = nullptr;
  for (const Token& known : tokens_) {  // to the end, whichever it is
    if (CRYPTO_memcmp(known.hash.data(), hash.data(), hash.size()) == 0) found = &known.entry;
  }
  return found;
}

const Roles::Entry* Roles::FindCertificate(const std::vector<absl::string_view>& names) const {
  const auto found =
      std::find_if(certificates_.begin(), certificates_.end(), [&](const Entry& entry) {
        return std::find(names.begin(), names.end(), entry.name) != names.end();
      });
  return found == certificates_.end() ? nullptr : &*found;
}

absl::StatusOr<std::unique_ptr<RolesFile>> RolesFile::Open(const Clock& clock,
                                                           const std::string& path) {
  std::unique_ptr<RolesFile> file(new RolesFile(clock, path));
  MutexLock lock(&file->mutex_);
  SLUICE_RETURN_IF_ERROR(file->Load());
  file->next_look_ = clock.Now() + kLookInterval;
  return file;
}

std::shared_ptr<const Roles> RolesFile::Current() {
  MutexLock lock(&mutex_);
  const Instant now = clock_.Now();
  if (now < next_look_) return roles_;
  next_look_ = now + kLookInterval;
  if (file_.HasChanged()) LoadAndTell(/*changed=*/true);
  return roles_;
}

void RolesFile::Reload() {
  MutexLock lock(&mutex_);
  LoadAndTell(file_.HasChanged());
}

void RolesFile::LoadAndTell(bool changed) {
  if (const absl::Status loaded = Load(); !loaded.ok()) {
    Log(LogLevel::kError, "the roles file cannot be used; what it said before still holds",
        {{"error", loaded.message()}});
  } else if (changed) {
    Log(LogLevel::kInfo, "the roles file has changed", {{"path", file_.path()}});
  }
}

absl::Status RolesFile::Load() {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, file_.Read());
  absl::StatusOr<Roles> roles = Roles::Parse(text);
  if (!roles.ok()) {
    return absl::Status(roles.status().code(),
                        absl::StrCat(file_.path(), ":\n", roles.status().message()));
  }
  roles_ = std::make_shared<const Roles>(*std::move(roles));
  return absl::OkStatus();
}

}  // namespace sluice::server
