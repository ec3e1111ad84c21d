#include "server/audit.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"

#include "lib/base/status.h"

namespace sluice::server {
namespace {

constexpr int kRefusalsPerSecond = 10;

}  // namespace

AuditLog::AuditLog(const Clock& clock, const std::string& path)
    : clock_(clock),
      path_(path),
      of_strangers_(kRefusalsPerSecond),
      of_known_(kRefusalsPerSecond) {}

AuditLog::~AuditLog() {
  MutexLock lock(&mutex_);
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const Clock& clock,
                                                         const std::string& path) {
  std::unique_ptr<AuditLog> log(new AuditLog(clock, path));
  MutexLock lock(&log->mutex_);
  if (!path.empty()) SLUICE_RETURN_IF_ERROR(log->OpenFile());
  return log;
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
  if (path_.empty()) return;
  const std::string text =
      absl::StrCat(LogLine(LogFormat::kJson, LogLevel::kInfo, "audit", line), "\n");
  MutexLock lock(&mutex_);
  if (const absl::Status written = Append(text); !written.ok()) {
    Log(LogLevel::kError, "a line of the audit log could not be written to its file",
        {{"error", written.message()}});
  }
}

absl::Status AuditLog::Append(absl::string_view line) {
  if (MovedAway()) {
    if (const absl::Status opened = OpenFile(); !opened.ok()) {
      Log(LogLevel::kError, "the audit log goes on in the file that was moved away",
          {{"error", opened.message()}});
    }
  }
  const ssize_t written = ::write(fd_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) return absl::OkStatus();
  return absl::ErrnoToStatus(written < 0 ? errno : ENOSPC, path_);
}

absl::Status AuditLog::OpenFile() {
  const int opened =
      ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP);
  if (opened < 0) return absl::ErrnoToStatus(errno, path_);
  if (fd_ >= 0) ::close(fd_);
  fd_ = opened;
  return absl::OkStatus();
}

bool AuditLog::MovedAway() const {
  struct stat named;
  struct stat open;
  if (::stat(path_.c_str(), &named) != 0) return true;
  return ::fstat(fd_, &open) != 0 || named.st_dev != open.st_dev || named.st_ino != open.st_ino;
}

}  // namespace sluice::server
