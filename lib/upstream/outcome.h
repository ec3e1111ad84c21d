#ifndef SLUICE_LIB_UPSTREAM_OUTCOME_H_
#define SLUICE_LIB_UPSTREAM_OUTCOME_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "lib/base/clock.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/message.h"

namespace sluice::upstream {

/// What an attempt says about the endpoint it was made at.
enum class Outcome {
  kSuccess,
  kFailure,
  kNeutral,  // nothing: the client, the key or the operator ended it, or the endpoint is busy
};

/// The status of the HTTP error that an error in a body is the same as: 400 to 599. `type` and
/// `code` are as the upstream wrote them ("" where it wrote none): of OpenAI's, Anthropic's and
/// Google's APIs, and of vLLM, SGLang and TGI; a code says more than a type; 500 for what nobody
/// knows.
int StatusOfError(absl::string_view type, absl::string_view code);

/// What an attempt that ended with `cause` says. `status` is the answer's, 0 if there was none;
/// `type` and `code` are of its error frame. Failures to connect, broken and empty answers,
/// silence, and errors of a server's kind count against the endpoint; 429, 503 and 529 are
/// backpressure and do not; nor do a client's errors, or a key's.
Outcome OutcomeOf(Cause cause, int status, absl::string_view type = "",
                  absl::string_view code = "");

/// For how long an answer asks to be left alone (its `Retry-After`), if its endpoint is who asks:
/// a 503 or 529, and a 429 that no key of ours is to blame for.
std::optional<Duration> RestOf(const ResponseHead& answer, bool with_key, absl::Time now);

}  // namespace sluice::upstream

#endif  // SLUICE_LIB_UPSTREAM_OUTCOME_H_
