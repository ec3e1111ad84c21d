#include "lib/relay/ready_answer.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/base/digest.h"
#include "lib/exchange/message.h"
#include "lib/relay/headers.h"

namespace sluice::relay {
namespace {

// Seconds. Capacity comes back as soon as any exchange ends, so there is nothing better to promise.
constexpr absl::string_view kRetryAfter = "1";

}  // namespace

ReadyAnswer::ReadyAnswer(std::unique_ptr<LiveExchange> exchange, WholeAnswer answer,
                         absl::string_view detail, Duration stall_limit)
    : exchange_(std::move(exchange)),
      answer_(std::move(answer)),
      detail_(detail),
      stall_limit_(stall_limit),
      body_(exchange_->record().info().method == "HEAD" ? Body::kNone : Body::kSized) {
  PrepareAnswerHead(exchange_->record().info().request_id, answer_.head);
  answer_.head.headers.Set("Content-Length", absl::StrCat(answer_.body.size()));
}

Answer::Step ReadyAnswer::Next(ClientSink& sink) {
  exchange_->Commit(answer_.head.status);
  sink.WriteHead(answer_.head);
  Digest sent;
  if (body_ == Body::kSized && !answer_.body.empty()) {
    const ClientSink::Result result = sink.Write(answer_.body, stall_limit_);
    if (result != ClientSink::Result::kOk) {
      exchange_->Finish(result == ClientSink::Result::kStalled ? Cause::kClientTooSlow
                                                               : exchange_->LossCause());
      return Step::kAbort;
    }
    exchange_->record().bytes_to_client = answer_.body.size();
    sent.Update(answer_.body);
  }
  exchange_->record().digest_to_client = sent.value();
  exchange_->Finish(answer_.cause, detail_);
  return Step::kEnd;
}

WholeAnswer ErrorAnswer(dialect::Dialect dialect, Cause cause, absl::string_view message) {
  WholeAnswer answer;
  answer.cause = cause;
  answer.ends_connection = true;
  answer.head.status = InfoOf(cause).http_status;
  answer.head.reason = std::string(ReasonPhrase(answer.head.status));
  answer.head.headers.Add("Content-Type", "application/json");
  if (answer.head.status == 429 || answer.head.status == 503) {
    answer.head.headers.Add("Retry-After", kRetryAfter);
  }
  answer.body =
      dialect::ErrorBody(dialect, cause, message.empty() ? InfoOf(cause).message : message);
  return answer;
}

}  // namespace sluice::relay
