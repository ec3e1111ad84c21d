#ifndef SLUICE_SERVER_GRPC_LOG_H_
#define SLUICE_SERVER_GRPC_LOG_H_

#include <string>

namespace sluice::server {

/// Sends gRPC's own log lines of this process to ours: its errors as warnings, at most 10 a second
/// since peers may cause them; no others. May be repeated.
void RouteGrpcLog();

/// Keeps what gRPC says on this thread out of the log for as long as it exists, for a caller that
/// reports the failure itself. One at a time on a thread, after RouteGrpcLog.
class GrpcLogCapture {
 public:
  GrpcLogCapture();
  ~GrpcLogCapture();
  GrpcLogCapture(const GrpcLogCapture&) = delete;
  GrpcLogCapture& operator=(const GrpcLogCapture&) = delete;

  /// The system's word for the first error there was, as in "Address already in use"; "" if there
  /// was none.
  std::string SystemError() const;

 private:
  std::string text_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_GRPC_LOG_H_
