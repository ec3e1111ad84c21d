#include "lib/admission/client_keys.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <openssl/sha.h>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "lib/base/log.h"
#include "lib/base/status.h"

namespace sluice::admission {
namespace {

constexpr size_t kMaxNameBytes = 128;
constexpr size_t kMaxProblems = 20;
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

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
         a.st_mode == b.st_mode;
}

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) return absl::ErrnoToStatus(errno, path);
  std::string text;
  std::array<char, 4096> buffer;
  while (const size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    text.append(buffer.data(), size);
  }
  if (std::ferror(file.get()) != 0) return absl::ErrnoToStatus(errno, path);
  return text;
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
  std::vector<std::string> problems;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const std::string problem =
        keys.Add(absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty()));
    if (problem.empty()) continue;
    if (problems.size() == kMaxProblems) {
      problems.push_back("and more");
      break;
    }
    problems.push_back(absl::StrCat("line ", number, ": ", problem));
  }
  if (problems.empty() && keys.entries_.empty()) problems.push_back("holds no key");
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
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
  stat(path.c_str(), &file->seen_);
  SLUICE_RETURN_IF_ERROR(file->Load());
  return file;
}

std::shared_ptr<const ClientKeys> ClientKeysFile::Current() const {
  MutexLock lock(&mutex_);
  return keys_;
}

void ClientKeysFile::Reload() {
  struct stat found = {};  // all zero if there is no file, which is a change too
  stat(path_.c_str(), &found);
  if (SameFile(found, seen_)) return;
  // What is written between the two looks at the file differs from `found` at the next look.
  seen_ = found;
  if (const absl::Status loaded = Load(); loaded.ok()) {
    Log(LogLevel::kInfo, "the client keys file has changed",
        {{"path", path_}, {"keys", Current()->size()}});
  } else {
    Log(LogLevel::kError, "the client keys file cannot be used; what it said before still holds",
        {{"error", loaded.message()}});
  }
}

absl::Status ClientKeysFile::Load() {
  if (seen_.st_mode != 0 && !S_ISREG(seen_.st_mode)) {  // the read might never end
    return absl::InvalidArgumentError(absl::StrCat(path_, ": is no regular file"));
  }
  if ((seen_.st_mode & S_IWOTH) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": anybody on this host may write it: chmod o-w it"));
  }
  SLUICE_ASSIGN_OR_RETURN(const std::string text, ReadWhole(path_));
  absl::StatusOr<ClientKeys> keys = ClientKeys::Parse(text);
  if (!keys.ok()) {
    return absl::Status(keys.status().code(), absl::StrCat(path_, ":\n", keys.status().message()));
  }
  auto loaded = std::make_shared<const ClientKeys>(*std::move(keys));
  MutexLock lock(&mutex_);
  keys_ = std::move(loaded);
  return absl::OkStatus();
}

}  // namespace sluice::admission
