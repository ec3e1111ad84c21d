#include "lib/http/upstream_socket.h"

#include <cerrno>
#include <cstring>

#include "lib/http/wait_results.h"

namespace sluice::http {

bool UpstreamSocket::IsSilent() {
  if (!readable()) return true;
  char stray;
  return tls_ != nullptr && tls_->Read(&stray, 1) < 0 && errno == EAGAIN;
}

WaitResult UpstreamSocket::failure() const {
  return tls_ == nullptr ? Failed(Cause::kUpstreamReset, std::strerror(errno)) : tls_->failure();
}

}  // namespace sluice::http
