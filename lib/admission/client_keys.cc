#include "lib/admission/client_keys.h"

#include <algorithm>
#include <cstring>
#include <openssl/sha.h>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "lib/base/log.h"
#include "lib/base/status.h"

namespace sluice::admission {
namespace {

constexpr size_t kMaxNameBytes = 128;
constexpr absl::string_view kBearer = "Bearer ";

/// The key in a field, which is "" if there is none.
absl::string_view KeyIn(const Header& field) {
  absl::string_view value = field.value;
  if (absl::EqualsIgnoreCase(field.name, "x-api-key") ||
      absl::EqualsIgnoreCase(field.name, "api-key")) {
    return absl::StripAsciiWhitespace(value);
  }
  if (absl::EqualsIgnoreCase(field.name, "Authorization") &&
      absl::StartsWithIgnoreCase(value, kBearer)) {
    return absl::StripAsciiWhitespace(value.substr(kBearer.size()));
  }
  return "";
}

/// "*" is the policy of those who are not named, and nobody's name.
bool IsName(absl::string_view text) {
  return text.size() <= kMaxNameBytes && text != "*" &&
         std::all_of(text.begin(), text.end(), absl::ascii_isgraph);
}

std::optional<absl::Time> ParseExpiry(absl::string_view text) {
  absl::Time time;
  std::string ignored;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &ignored)) return std::nullopt;
  if (time == absl::InfiniteFuture() || time == absl::InfinitePast()) return std::nullopt;
  return time;
}

}  // namespace

std::optional<absl::string_view> CredentialOf(const HeaderList& headers) {
  absl::string_view found;
  for (const Header& field : headers) {
    const absl::string_view key = KeyIn(field);
    if (key.empty() || key == found) continue;
    if (!found.empty()) return std::nullopt;
    found = key;
  }
  if (found.empty()) return std::nullopt;
  return found;
}

absl::StatusOr<ClientKeys> ClientKeys::Parse(absl::string_view text) {
  ClientKeys keys;
  std::vector<std::string> problems =
      ReadAccessLines(text, [&keys](const auto& fields) { return keys.Add(fields); });
  if (problems.empty() && keys.entries_.empty()) problems.push_back("holds no key");
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
  return keys;
}

std::string ClientKeys::Add(const std::vector<absl::string_view>& fields) {
  if (fields.size() != 2 && fields.size() != 3) {
    return "is not PRINCIPAL SHA256HEX, nor PRINCIPAL SHA256HEX EXPIRES";
  }
  if (!IsName(fields[0])) {
    return absl::StrCat("begins with no principal: 1 to ", kMaxNameBytes,
                        " printable ASCII characters, but not \"*\"");
  }
  if (fields[1].size() != 2 * sizeof(Hash) ||
      !std::all_of(fields[1].begin(), fields[1].end(), absl::ascii_isxdigit)) {
    return "has no SHA-256 in hex (64 digits); the key itself does not belong here";
  }
  Entry entry{std::string(fields[0])};
  if (fields.size() == 3) {
    const std::optional<absl::Time> expires = ParseExpiry(fields[2]);
    if (!expires.has_value()) return "ends with no time as 2027-01-31T00:00:00Z";
    entry.expires = *expires;
  }
  const std::string bytes = absl::HexStringToBytes(fields[1]);
  Hash hash;
  std::memcpy(hash.data(), bytes.data(), sizeof(hash));
  const bool twice = std::find(hashes_.begin(), hashes_.end(), hash) != hashes_.end();
  hashes_.push_back(hash);
  entries_.push_back(std::move(entry));
  return twice ? "has the key of a line before it" : "";
}

ClientKeys::Hash ClientKeys::HashOf(absl::string_view key) {
  Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

const std::string* ClientKeys::Find(absl::string_view key, absl::Time now) const {
  const Hash hash = HashOf(key);
  size_t found = hashes_.size();
  for (size_t i = 0; i < hashes_.size(); ++i) {  // to the end, whichever it is
    uint64_t difference = 0;
    for (size_t word = 0; word < hash.size(); ++word) difference |= hashes_[i][word] ^ hash[word];
    found = difference == 0 ? i : found;
  }
  if (found == hashes_.size() || entries_[found].expires <= now) return nullptr;
  return &entries_[found].principal;
}

absl::StatusOr<std::unique_ptr<ClientKeysFile>> ClientKeysFile::Open(const std::string& path) {
  std::unique_ptr<ClientKeysFile> file(new ClientKeysFile(path));
  SLUICE_RETURN_IF_ERROR(file->Load());
  return file;
}

std::shared_ptr<const ClientKeys> ClientKeysFile::Current() const {
  MutexLock lock(&mutex_);
  return keys_;
}

void ClientKeysFile::Reload(bool anyway) {
  const bool changed = file_.HasChanged();
  if (!changed && !anyway) return;
  if (const absl::Status loaded = Load(); !loaded.ok()) {
    Log(LogLevel::kError, "the client keys file cannot be used; what it said before still holds",
        {{"error", loaded.message()}});
  } else if (changed) {
    Log(LogLevel::kInfo, "the client keys file has changed",
        {{"path", file_.path()}, {"keys", Current()->size()}});
  }
}

absl::Status ClientKeysFile::Load() {
  if (file_.is_there() && !file_.is_regular()) {  // the read might never end
    return absl::InvalidArgumentError(absl::StrCat(file_.path(), ": is no regular file"));
  }
  SLUICE_ASSIGN_OR_RETURN(const std::string text, file_.Read());
  absl::StatusOr<ClientKeys> keys = ClientKeys::Parse(text);
  if (!keys.ok()) {
    return absl::Status(keys.status().code(),
                        absl::StrCat(file_.path(), ": ", keys.status().message()));
  }
  auto loaded = std::make_shared<const ClientKeys>(*std::move(keys));
  MutexLock lock(&mutex_);
  keys_ = std::move(loaded);
  return absl::OkStatus();
}

}  // namespace sluice::admission
