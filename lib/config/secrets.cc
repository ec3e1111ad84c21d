#include "lib/config/secrets.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "lib/base/status.h"

namespace sluice::config {
namespace {

constexpr size_t kMaxSecretBytes = 8192;

absl::StatusOr<std::string> ReadEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return absl::NotFoundError("the gateway has no such environment variable");
  return std::string(value);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::error_code ignored;
  // Of a pipe or a device the read might never end.
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    return absl::InvalidArgumentError("is no regular file");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) return absl::ErrnoToStatus(errno, "cannot be opened");
  std::array<char, kMaxSecretBytes + 1> buffer;
  const size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get());
  if (std::ferror(file.get()) != 0) return absl::ErrnoToStatus(errno, "cannot be read");
  return std::string(buffer.data(), size);
}

absl::StatusOr<Secret> ReadSecret(const Key& key) {
  SLUICE_ASSIGN_OR_RETURN(const std::string text,
                          key.env.empty() ? ReadFile(key.file) : ReadEnvironment(key.env));
  if (text.size() > kMaxSecretBytes) return absl::InvalidArgumentError("holds more than 8 KiB");
  const absl::string_view value = absl::StripAsciiWhitespace(text);
  if (value.empty()) return absl::InvalidArgumentError("holds no key");
  if (!std::all_of(value.begin(), value.end(),
                   [](unsigned char c) { return absl::ascii_isgraph(c); })) {
    return absl::InvalidArgumentError("holds more than one word of visible ASCII");
  }
  return Secret(std::string(value));
}

}  // namespace

void Secrets::Add(absl::string_view pool, absl::string_view key, Secret secret) {
  secrets_.insert_or_assign({std::string(pool), std::string(key)}, std::move(secret));
}

const Secret& Secrets::Find(absl::string_view pool, absl::string_view key) const {
  static const Secret kNone;
  const auto found = secrets_.find({std::string(pool), std::string(key)});
  return found == secrets_.end() ? kNone : found->second;
}

bool Secrets::Equals(const Secrets& other) const {
  return std::equal(secrets_.begin(), secrets_.end(), other.secrets_.begin(), other.secrets_.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first && a.second.EqualsConstantTime(b.second.Reveal());
                    });
}

std::vector<UnreadableKey> ReadSecrets(const Config& config, Secrets* secrets) {
  std::vector<UnreadableKey> unreadable;
  for (size_t i = 0; i < config.pools.size(); ++i) {
    const Pool& pool = config.pools[i];
    for (size_t j = 0; j < pool.keys.size(); ++j) {
      const Key& key = pool.keys[j];
      absl::StatusOr<Secret> secret = ReadSecret(key);
      if (secret.ok()) {
        secrets->Add(pool.id, key.id, *std::move(secret));
      } else {
        unreadable.push_back(
            {pool,
             key,
             {absl::StrCat("pools[", i, "].keys[", j, "].", key.env.empty() ? "file" : "env"),
              std::string(secret.status().message())}});
      }
    }
  }
  return unreadable;
}

}  // namespace sluice::config
