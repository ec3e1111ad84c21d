#ifndef SLUICE_SERVER_AUDIT_H_
#define SLUICE_SERVER_AUDIT_H_

#include <initializer_list>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "grpcpp/support/status.h"

#include "lib/base/clock.h"
#include "lib/base/line_file.h"
#include "lib/base/log.h"
#include "lib/base/mutex.h"
#include "server/caller.h"
#include "server/line_budget.h"

namespace sluice::server {

/// The audit log: who changed what, read the text of a stream, or was refused. Each entry is a line
/// `audit` of the log; and, if there is a file for it, a line there, as the JSON that the log would
/// write. Thread-safe.
class AuditLog {
 public:
  /// Appends to the file at `path`, to none if it is "". When the file is moved away, as logrotate
  /// does, the next line goes to a new one of that name. Errors are those of LineFile::Open.
  /// `clock` must outlive it.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const Clock& clock,
                                                        const std::string& path);

  /// `caller` did `action` ("update config", "tail exchange"), or tried to, as `fields` tell.
  void Write(const Caller& caller, absl::string_view action,
             std::initializer_list<LogField> fields);
  /// `caller` was not admitted to `rpc`. At most 10 of these a second are written of callers that
  /// are nobody known, and as many of others, so that strangers cannot hide those; the next one
  /// tells how many were left out.
  void WriteRefusal(const Caller& caller, absl::string_view rpc, const grpc::Status& why);

 private:
  AuditLog(const Clock& clock, std::unique_ptr<LineFile> file);
  void WriteLine(const Caller& caller, absl::string_view action, absl::Span<const LogField> fields);

  const Clock& clock_;
  LineBudget of_strangers_;
  LineBudget of_known_;
  Mutex mutex_;
  const std::unique_ptr<LineFile> file_ ABSL_PT_GUARDED_BY(mutex_);  // null: none
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_AUDIT_H_
