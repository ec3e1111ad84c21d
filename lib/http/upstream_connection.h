#ifndef SLUICE_LIB_HTTP_UPSTREAM_CONNECTION_H_
#define SLUICE_LIB_HTTP_UPSTREAM_CONNECTION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "lib/base/clock.h"
#include "lib/exchange/seams.h"
#include "lib/exchange/upstream_address.h"
#include "lib/http/response_parser.h"
#include "lib/http/upstream_dialer.h"
#include "lib/http/upstream_pool.h"
#include "lib/http/upstream_socket.h"
#include "lib/runtime/buffer_pool.h"

namespace sluice::http {

/// One attempt: a connection, the request on it, its answer. See UpstreamStream. Goes back to
/// `pool` when it is destroyed behind a whole answer and may be used again; closed otherwise.
class UpstreamConnection final : public UpstreamStream {
 public:
  /// `address`, `dialer` and `pool` must outlive it; `request` must stay until the head was read.
  UpstreamConnection(const UpstreamAddress& address, const OutboundRequest& request,
                     UpstreamDialer& dialer, UpstreamPool& pool);
  ~UpstreamConnection() override;

  /// Takes a connection from the pool, or makes one. kFailed: see UpstreamDialer::Dial.
  WaitResult Connect(Instant deadline);

  WaitResult ReadHead(Instant deadline, ResponseHead* head) override;
  WaitResult ReadBody(Instant deadline, absl::string_view* piece, bool* last) override;
  Instant connected_at() const override { return connected_at_; }

 private:
  WaitResult ConnectAnew(Instant deadline);
  /// Sends what is left of the request, until the upstream begins to answer.
  WaitResult Send(Instant deadline);
  /// One read into the parser.
  WaitResult ReadMore(Instant deadline);
  /// Whether to send the request once more: the connection came from the pool, and died before it
  /// answered.
  bool DiedIdle(const WaitResult& result) const;
  bool request_sent() const { return sent_ == head_.size() + request_.body.size(); }

  const UpstreamAddress& address_;
  const OutboundRequest& request_;
  UpstreamDialer& dialer_;
  UpstreamPool& pool_;

  std::unique_ptr<UpstreamSocket> socket_;
  bool reused_ = false;
  Instant connected_at_;
  std::string head_;  // of the request; freed once the answer began
  size_t sent_ = 0;   // of head and body
  bool sent_whole_ = false;
  bool cut_off_ = false;  // the upstream takes no more of the request
  std::optional<ResponseParser> parser_;
  runtime::BufferPool::Lease buffer_;  // while the parser has bytes in it
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_UPSTREAM_CONNECTION_H_
