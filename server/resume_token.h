#ifndef SLUICE_SERVER_RESUME_TOKEN_H_
#define SLUICE_SERVER_RESUME_TOKEN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace sluice::server {

/// A place in the events of one run of the server. Opaque to clients in its text form.
struct ResumeToken {
  uint64_t epoch = 0;     // BootEpoch() of the run
  uint64_t sequence = 0;  // of the last event the watcher is past
  friend bool operator==(const ResumeToken&, const ResumeToken&) = default;
};

std::string ToString(const ResumeToken& token);
/// The reverse of ToString; nothing unless the text is exactly of that form.
std::optional<ResumeToken> ParseResumeToken(absl::string_view text);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_RESUME_TOKEN_H_
