#include "lib/relay/attempt.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "lib/sse/splitter.h"
#include "lib/upstream/outcome.h"

namespace sluice::relay {
namespace {

using std::chrono::seconds;
using upstream::Spent;

// How long the next attempt waits for the body of an error that may yet be the best answer.
constexpr Duration kErrorBodyPatience = seconds(1);

constexpr size_t kMaxNameRecorded = 64;

bool HasBody(const OutboundRequest& request, int status) {
  return request.method != "HEAD" && status != 204 && status != 304;  // RFC 9110 section 6.4.1
}

/// What an upstream's status says against it, if anything.
struct StatusFault {
  Cause cause;
  RetryClass retry;
  Spent spent = Spent::kEndpoint;
};

std::optional<StatusFault> FaultOfStatus(int status, const config::Pool& pool) {
  switch (status) {
    case 503:
      return StatusFault{Cause::kUpstreamRefused503,
                         pool.retry.retry_503 ? RetryClass::kAlways : RetryClass::kNo};
    case 401:
    case 402:
    case 403:
      // Under PASS_THROUGH the key at fault is the client's own.
      if (pool.credentials == config::Credentials::kPassThrough) return std::nullopt;
      return StatusFault{Cause::kUpstreamStatus, RetryClass::kNextKey, Spent::kKey};
    case 429:
      return StatusFault{Cause::kUpstreamStatus, RetryClass::kByPolicy,
                         pool.keys.empty() ? Spent::kEndpoint : Spent::kKey};
    case 500:
    case 502:
    case 504:
    case 529:
      return StatusFault{Cause::kUpstreamStatus, RetryClass::kByPolicy};
    default:
      if (status < 500) return std::nullopt;
      return StatusFault{Cause::kUpstreamStatus, RetryClass::kNo};
  }
}

/// The first frame that decides about a held event stream.
class FirstFrame {
 public:
  explicit FirstFrame(dialect::Dialect dialect) : reader_(dialect) {}

  void See(const sse::Frame& frame) {
    if (decided()) return;
    const dialect::FrameView view = reader_.Read(frame);
    is_error_ = view.error;
    is_valid_ = view.valid && !view.error;
  }
  bool decided() const { return is_error_ || is_valid_; }
  bool is_error() const { return is_error_; }
  dialect::UpstreamError error() const {
    return reader_.error() ? *reader_.error() : dialect::UpstreamError();
  }

 private:
  dialect::StreamReader reader_;
  bool is_error_ = false;
  bool is_valid_ = false;
};

class AttemptRun {
 public:
  using Failure = std::optional<AttemptFailure>;

  explicit AttemptRun(const AttemptContext& context) : x_(context), started_(context.clock.Now()) {
    answer_.first_frame = {DeadlineAfter(started_, x_.pool.timeouts.first_frame),
                           Cause::kFirstFrameTimeout};
    limit_ = Nearest({answer_.first_frame, x_.hold_budget});
  }

  AttemptOutcome Run(const UpstreamAddress& address) {
    Failure failure = Connect(address);
    if (!failure) failure = AwaitHead();
    if (!failure) failure = JudgeStatus();
    if (!failure) failure = Hold();
    if (failure) return *std::move(failure);
    return std::move(answer_);
  }

 private:
  Failure Connect(const UpstreamAddress& address) {
    const Limit limit = Nearest(
        {limit_, {DeadlineAfter(started_, x_.pool.timeouts.connect), Cause::kConnectTimeout}});
    OpenResult opened = x_.transport.Open(address, x_.outbound, limit.at);
    if (opened.stream == nullptr) return FailureOf(std::move(opened.wait), limit);
    answer_.stream = std::move(opened.stream);
    x_.stamps.connected = answer_.stream->connected_at();
    return std::nullopt;
  }

  Failure AwaitHead() {
    WaitResult wait = answer_.stream->ReadHead(limit_.at, &answer_.head);
    if (wait.kind != WaitResult::kOk) return FailureOf(std::move(wait), limit_);
    x_.stamps.head = x_.clock.Now();
    x_.record.phase = Phase::kHold;
    x_.record.attempts[x_.index].http_status = answer_.head.status;
    if (x_.key != nullptr) x_.key->See(answer_.head);
    answer_.has_body = HasBody(x_.outbound, answer_.head.status);
    answer_.kind = answer_.has_body ? KindOfBody(answer_.head) : BodyKind::kOpaque;
    return std::nullopt;
  }

  Failure JudgeStatus() {
    const std::optional<StatusFault> fault = FaultOfStatus(answer_.head.status, x_.pool);
    if (!fault.has_value()) return std::nullopt;
    // What an upstream says about a key of ours is not for the client, who has none of them.
    const bool confidential = fault->retry == RetryClass::kNextKey && x_.key != nullptr;
    const bool final = !MayRetry(fault->retry, x_.pool.retry) || !x_.others_remain(fault->spent);
    answer_.rest = upstream::RestOf(answer_.head, x_.key != nullptr, x_.clock.WallNow());
    if (final && !confidential) {
      answer_.standing = fault->cause;
      return std::nullopt;
    }
    std::optional<WholeAnswer> kept;
    if (!confidential) kept = KeepAnswer(fault->cause);
    if (x_.cancellation.cause().has_value()) return FailureOf(*x_.cancellation.cause(), "");
    return AttemptFailure{.cause = fault->cause,
                          .retry = fault->retry,
                          .spent = fault->spent,
                          .status = answer_.head.status,
                          .rest = answer_.rest,
                          .answer = std::move(kept)};
  }

  /// Reads on until it is clear that the answer is worth committing.
  Failure Hold() {
    if (x_.pool.commit == config::CommitPoint::kOnHead && answer_.has_body) return std::nullopt;
    if (answer_.kind == BodyKind::kEventStream) return HoldUntilFirstFrame();
    return HoldUntilFirstPiece();
  }

  Failure HoldUntilFirstFrame() {
    const Instant keepalive_at = DeadlineAfter(started_, x_.pool.timeouts.hold_keepalive);
    sse::Splitter splitter;
    FirstFrame first(x_.dialect);
    const auto see = [&first](const sse::Frame& frame) { first.See(frame); };
    while (!first.decided() && !answer_.ended && answer_.held.size() < kMaxHeldBytes) {
      const bool commented = splitter.comments() > 0;
      const Instant until = commented ? std::min(keepalive_at, limit_.at) : limit_.at;
      absl::string_view piece;
      bool last = false;
      WaitResult wait = ReadBody(until, &piece, &last);
      if (wait.kind == WaitResult::kDeadline && until < limit_.at) return std::nullopt;
      if (wait.kind == WaitResult::kEnd) {
        answer_.ended = true;
        splitter.Finish(see);
      } else if (wait.kind == WaitResult::kOk) {
        answer_.held.append(piece.data(), piece.size());
        splitter.Feed(piece, see);
      } else {
        return FailureOf(std::move(wait), limit_);
      }
    }
    if (first.is_error()) {
      // The message may quote the prompt: it is for the client, not for records.
      const dialect::UpstreamError error = first.error();
      if (x_.key != nullptr) x_.key->SeeError(error.type, error.code);
      const std::string type = NameForRecord(error.type);
      const std::string code = NameForRecord(error.code);
      AttemptFailure failure =
          FailureOf(Cause::kUpstreamErrorFrame,
                    absl::StrCat(type, type.empty() || code.empty() ? "" : "/", code));
      if (!QuotesOurKey(error.message)) failure.message = error.message;
      failure.error_type = error.type;
      failure.error_code = error.code;
      failure.spent = Spent::kPair;  // another key may have what this one lacks
      return failure;
    }
    if (answer_.ended && !first.decided()) return FailureOf(Cause::kEmptyAnswer, "");
    answer_.first_frame_seen = first.decided();
    return std::nullopt;
  }

  Failure HoldUntilFirstPiece() {
    absl::string_view piece;
    bool last = false;
    WaitResult wait = ReadBody(limit_.at, &piece, &last);
    answer_.first_frame_seen = true;
    if (wait.kind == WaitResult::kOk) {
      if (answer_.head.status >= 400 && QuotesOurKey(piece)) {
        AttemptFailure failure = FailureOf(answer_.standing.value_or(Cause::kUpstreamStatus), "");
        failure.retry = RetryClass::kNo;  // it would have been the last
        return failure;
      }
      answer_.held = std::string(piece);
      answer_.ended = last;
    } else if (wait.kind == WaitResult::kEnd) {
      answer_.ended = true;
    } else {
      return FailureOf(std::move(wait), limit_);
    }
    return std::nullopt;
  }

  WaitResult ReadBody(Instant deadline, absl::string_view* piece, bool* last) {
    WaitResult wait = answer_.stream->ReadBody(deadline, piece, last);
    if (wait.kind == WaitResult::kOk) {
      std::optional<Instant>& stamp = x_.stamps.first_byte;
      if (!stamp.has_value()) stamp = x_.clock.Now();
      x_.record.bytes_from_upstream += piece->size();
    }
    return wait;
  }

  /// A type or code as records may have it: a name, and not the key that an upstream echoes.
  std::string NameForRecord(absl::string_view name) const {
    const bool is_name =
        name.size() <= kMaxNameRecorded && std::all_of(name.begin(), name.end(), [](char c) {
          return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
        });
    return is_name && !QuotesOurKey(name) ? std::string(name) : "(no name)";
  }

  /// Then it is for nobody: clients have keys of their own, and records have none.
  bool QuotesOurKey(absl::string_view text) const {
    return x_.key != nullptr && x_.key->IsIn(text);
  }

  /// The whole answer to a failed attempt, unless it is too large, too slow or quotes our key.
  std::optional<WholeAnswer> KeepAnswer(Cause cause) {
    WholeAnswer kept{.cause = cause, .ends_connection = false, .head = answer_.head, .body = ""};
    const Instant until = std::min(limit_.at, x_.clock.Now() + kErrorBodyPatience);
    while (true) {
      absl::string_view piece;
      bool last = false;
      const WaitResult wait = ReadBody(until, &piece, &last);
      if (wait.kind == WaitResult::kEnd) {
        if (QuotesOurKey(kept.body)) return std::nullopt;
        return kept;
      }
      if (wait.kind != WaitResult::kOk) return std::nullopt;
      kept.body.append(piece.data(), piece.size());
      if (kept.body.size() > kMaxHeldBytes) return std::nullopt;
    }
  }

  AttemptFailure FailureOf(WaitResult wait, const Limit& limit) const {
    switch (wait.kind) {
      case WaitResult::kDeadline:
        return FailureOf(limit.cause, std::move(wait.detail));
      case WaitResult::kCancelled:
        return FailureOf(x_.cancellation.cause().value_or(Cause::kClientGone), "");
      case WaitResult::kFailed:
        return FailureOf(wait.failure, std::move(wait.detail));
      case WaitResult::kOk:
      case WaitResult::kEnd:
        break;
    }
    return FailureOf(Cause::kInternal, "a seam reported success without a result");
  }

  AttemptFailure FailureOf(Cause cause, std::string detail) const {
    return {.cause = cause,
            .retry = InfoOf(cause).retry,
            .status = answer_.head.status,
            .detail = std::move(detail)};
  }

  const AttemptContext& x_;
  const Instant started_;
  Limit limit_;
  HeldAnswer answer_;
};

}  // namespace

bool MayRetry(RetryClass retry, const config::Retry& policy) {
  switch (retry) {
    case RetryClass::kAlways:
    case RetryClass::kNextKey:  // no work was done either
      return true;
    case RetryClass::kByPolicy:
      return policy.retry_after_send;
    case RetryClass::kNo:
      return false;
  }
  return false;
}

AttemptOutcome RunAttempt(const AttemptContext& context, const UpstreamAddress& address) {
  return AttemptRun(context).Run(address);
}

}  // namespace sluice::relay
