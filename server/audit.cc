#include "server/audit.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "lib/base/status.h"

namespace sluice::server {
namespace {

constexpr int kRefusalsPerSecond = 10;

}  // namespace

AuditLog::AuditLog(const Clock& clock, std::unique_ptr<LineFile> file)
    : clock_(clock),
      of_strangers_(kRefusalsPerSecond),
      of_known_(kRefusalsPerSecond),
      file_(std::move(file)) {}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const Clock& clock,
                                                         const std::string& path) {
  std::unique_ptr<LineFile> file;
  if (!path.empty()) {
    SLUICE_ASSIGN_OR_RETURN(file, LineFile::Open(path));
  }
  return std::unique_ptr<AuditLog>(new AuditLog(clock, std::move(file)));
}

void AuditLog::Write(const Caller& caller, absl::string_view action,
                     std::initializer_list<LogField> fields) {
  WriteLine(caller, action, absl::MakeConstSpan(fields.begin(), fields.size()));
}

void AuditLog::WriteRefusal(const Caller& caller, absl::string_view rpc, const grpc::Status& why) {
  LineBudget& budget = caller.name.empty() ? of_strangers_ : of_known_;
  const std::optional<int64_t> left_out = budget.Take(clock_.Now());
  if (!left_out.has_value()) return;
  const auto code = static_cast<absl::StatusCode>(why.error_code());
  const std::string outcome = absl::StatusCodeToString(code);
  const std::string error = why.error_message();
  std::vector<LogField> fields = {{"outcome", outcome}, {"error", error}};
  if (*left_out > 0) fields.emplace_back("refusals_left_out", *left_out);
  WriteLine(caller, rpc, fields);
}

void AuditLog::WriteLine(const Caller& caller, absl::string_view action,
                         absl::Span<const LogField> fields) {
  std::vector<LogField> line = {{"who", caller.name},
                                {"role", caller.name.empty() ? "" : RoleName(caller.role)}};
  if (caller.peer != caller.name) line.emplace_back("from", caller.peer);
  line.emplace_back("action", action);
  line.insert(line.end(), fields.begin(), fields.end());
  Log(LogLevel::kInfo, "audit", line);
  if (file_ == nullptr) return;
  const std::string text =
      absl::StrCat(LogLine(LogFormat::kJson, LogLevel::kInfo, "audit", line), "\n");
  absl::string_view left = text;
  MutexLock lock(&mutex_);
  if (const absl::Status followed = file_->FollowPath(); !followed.ok()) {
    Log(LogLevel::kError, "the audit log goes on in the file that was moved away",
        {{"error", followed.message()}});
  }
  if (const absl::Status written = file_->Append(&left); !written.ok()) {
    Log(LogLevel::kError, "a line of the audit log could not be written to its file",
        {{"error", written.message()}});
  }
}

}  // namespace sluice::server
