#include "server/grpc_log.h"

#include <optional>

#include "absl/strings/str_cat.h"

#include "grpc/support/log.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "server/line_budget.h"

namespace sluice::server {
namespace {

constexpr int kLinesPerSecond = 10;

thread_local std::string* captured_ = nullptr;

void Route(gpr_log_func_args* line) {
  if (line->severity != GPR_LOG_SEVERITY_ERROR) return;
  if (captured_ != nullptr) {
    absl::StrAppend(captured_, line->message, "\n");
    return;
  }
  static const SystemClock clock;
  static LineBudget budget(kLinesPerSecond);
  const std::optional<int64_t> left_out = budget.Take(clock.Now());
  if (!left_out.has_value()) return;
  Log(LogLevel::kWarning, "gRPC", {{"detail", line->message}, {"left_out", *left_out}});
}

}  // namespace

void RouteGrpcLog() { gpr_set_log_function(&Route); }

GrpcLogCapture::GrpcLogCapture() { captured_ = &text_; }

GrpcLogCapture::~GrpcLogCapture() { captured_ = nullptr; }

std::string GrpcLogCapture::SystemError() const {
  constexpr absl::string_view kMark = "os_error:\"";
  const size_t mark = text_.find(kMark.data());
  if (mark == std::string::npos) return "";
  const size_t start = mark + kMark.size();
  return text_.substr(start, text_.find('"', start) - start);
}

}  // namespace sluice::server
