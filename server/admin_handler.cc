#include "server/admin_handler.h"

#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sluice::server {
namespace {

class TextAnswer final : public Answer {
 public:
  TextAnswer(int status, std::string text, bool has_body,
             absl::string_view type = "text/plain; charset=utf-8")
      : text_(std::move(text)), body_(has_body ? Body::kSized : Body::kNone) {
    head_.status = status;
    head_.reason = std::string(ReasonPhrase(status));
    head_.headers.Add("Content-Type", type);
    head_.headers.Add("Content-Length", absl::StrCat(text_.size()));
  }

  Body body() const override { return body_; }
  bool ends_connection() const override { return head_.status >= 400; }
  Step Next(ClientSink& sink) override {
    sink.WriteHead(head_);
    if (body_ == Body::kNone) return Step::kEnd;
    return sink.Write(text_, std::chrono::seconds(10)) == ClientSink::Result::kOk ? Step::kEnd
                                                                                  : Step::kAbort;
  }

 private:
  ResponseHead head_;
  const std::string text_;
  const Body body_;
};

}  // namespace

std::unique_ptr<Answer> AdminHandler::Serve(Request request, Instant, Cancellation&) {
  const bool has_body = request.method != "HEAD";
  if (request.method != "GET" && has_body) {
    return std::make_unique<TextAnswer>(405, "only GET and HEAD\n", true);
  }
  if (request.path() == "/healthz") return std::make_unique<TextAnswer>(200, "ok\n", has_body);
  if (request.path() == "/metrics") {
    return std::make_unique<TextAnswer>(200, metrics_(), has_body,
                                        "text/plain; version=0.0.4; charset=utf-8");
  }
  if (request.path() != "/readyz") {
    return std::make_unique<TextAnswer>(404, "there are /healthz, /readyz and /metrics\n",
                                        has_body);
  }
  if (ready_) return std::make_unique<TextAnswer>(200, "ready\n", has_body);
  return std::make_unique<TextAnswer>(503, "draining\n", has_body);
}

std::unique_ptr<Answer> AdminHandler::Refuse(Cause cause, absl::string_view message,
                                             absl::string_view, Instant, Cancellation&) {
  return std::make_unique<TextAnswer>(InfoOf(cause).http_status, absl::StrCat(message, "\n"), true);
}

}  // namespace sluice::server
