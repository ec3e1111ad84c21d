#include "lib/http/upstream_connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/uio.h>
#include <utility>

#include "lib/base/release.h"
#include "lib/http/head_writer.h"
#include "lib/http/wait_results.h"
#include "lib/runtime/loop.h"

namespace sluice::http {
namespace {

using runtime::Wake;

/// For the second connection, when one from the pool turns out dead.
constexpr Duration kReconnectLimit = std::chrono::seconds(2);

Instant Now() { return std::chrono::steady_clock::now(); }

}  // namespace

UpstreamConnection::UpstreamConnection(const UpstreamAddress& address,
                                       const OutboundRequest& request, UpstreamDialer& dialer,
                                       UpstreamPool& pool)
    : address_(address),
      request_(request),
      dialer_(dialer),
      pool_(pool),
      parser_(std::in_place, request.method == "HEAD") {}

UpstreamConnection::~UpstreamConnection() {
  buffer_.Release();
  if (socket_ != nullptr && sent_whole_ && parser_->keep_alive() && !socket_->hung_up()) {
    pool_.Put(address_, std::move(socket_));
  }
}

WaitResult UpstreamConnection::Connect(Instant deadline) {
  const absl::Status written =
      AppendRequestHead(request_.method, TargetAt(address_.uri, request_.target),
                        address_.uri.authority, request_.headers, request_.body.size(), &head_);
  if (!written.ok()) return Failed(Cause::kInternal, std::string(written.message()));

  socket_ = pool_.Take(address_);
  if (socket_ == nullptr) return ConnectAnew(deadline);
  reused_ = true;
  connected_at_ = Now();
  return {};
}

WaitResult UpstreamConnection::ConnectAnew(Instant deadline) {
  reused_ = false;
  WaitResult result = dialer_.Dial(address_, deadline, &socket_);
  if (result.kind == WaitResult::kOk) connected_at_ = Now();
  return result;
}

WaitResult UpstreamConnection::ReadHead(Instant deadline, ResponseHead* head) {
  while (true) {
    WaitResult result;
    while (result.kind == WaitResult::kOk) {
      switch (parser_->Next()) {
        case ResponseParser::Result::kNeedMore:
          result = Send(deadline);
          if (result.kind == WaitResult::kOk) result = ReadMore(deadline);
          continue;
        case ResponseParser::Result::kHead:
          *head = parser_->TakeHead();
          sent_whole_ = request_sent();
          Release(head_);
          return {};
        case ResponseParser::Result::kError:
          result = Failed(parser_->failure().cause, parser_->failure().detail);
          continue;
        case ResponseParser::Result::kBody:
        case ResponseParser::Result::kEnd:
          return Failed(Cause::kInternal, "the answer's head was read before");
      }
    }
    if (!DiedIdle(result)) return result;
    sent_ = 0;
    cut_off_ = false;
    parser_.emplace(request_.method == "HEAD");
    WaitResult reconnected = ConnectAnew(std::min(deadline, Now() + kReconnectLimit));
    if (reconnected.kind != WaitResult::kOk) return reconnected;
  }
}

bool UpstreamConnection::DiedIdle(const WaitResult& result) const {
  return reused_ && !parser_->any_bytes() && result.kind == WaitResult::kFailed &&
         result.failure == Cause::kUpstreamReset;
}

WaitResult UpstreamConnection::Send(Instant deadline) {
  while (!request_sent() && !cut_off_) {
    std::array<iovec, 2> parts;
    size_t count = 0;
    if (sent_ < head_.size()) parts[count++] = {head_.data() + sent_, head_.size() - sent_};
    const size_t body_sent = sent_ > head_.size() ? sent_ - head_.size() : 0;
    if (body_sent < request_.body.size()) {
      parts[count++] = {const_cast<char*>(request_.body.data()) + body_sent,
                        request_.body.size() - body_sent};
    }
    const ssize_t put = socket_->Write(absl::MakeSpan(parts.data(), count));
    if (put > 0) {
      sent_ += static_cast<size_t>(put);
      continue;
    }
    // An upstream may answer a request that it has not read, and close: 413, say. Its answer
    // counts.
    cut_off_ = errno != EAGAIN;
    if (cut_off_) return {};
    const Wake wake = socket_->WaitAny(deadline);
    if (wake != Wake::kReady) return NotReady(wake);
    if (socket_->readable()) return {};
  }
  return {};
}

WaitResult UpstreamConnection::ReadBody(Instant deadline, absl::string_view* piece, bool* last) {
  while (true) {
    switch (parser_->Next()) {
      case ResponseParser::Result::kBody:
        *piece = parser_->body();
        *last = parser_->finished();
        return {};
      case ResponseParser::Result::kNeedMore: {
        WaitResult result = ReadMore(deadline);
        if (result.kind != WaitResult::kOk) return result;
        continue;
      }
      case ResponseParser::Result::kEnd:
        buffer_.Release();
        return {WaitResult::kEnd};
      case ResponseParser::Result::kError:
        buffer_.Release();
        return Failed(parser_->failure().cause, parser_->failure().detail);
      case ResponseParser::Result::kHead:
        return Failed(Cause::kInternal, "the answer's head is unread");
    }
  }
}

WaitResult UpstreamConnection::ReadMore(Instant deadline) {
  buffer_.Release();
  const Wake wake = socket_->WaitReadable(deadline);
  if (wake != Wake::kReady) return NotReady(wake);
  buffer_ = runtime::Loop::Current()->buffers().Take();
  const ssize_t got = socket_->Read(buffer_.data(), buffer_.size());
  if (got > 0) {
    parser_->Feed(buffer_.data(), static_cast<size_t>(got));
  } else if (got == 0) {
    const bool whole = parser_->FinishOnEof() == ResponseParser::Result::kEnd;
    if (whole && !socket_->ended_cleanly()) {
      return Failed(Cause::kTruncated, "the connection was cut without an end of TLS");
    }
  } else if (errno != EAGAIN) {
    return socket_->failure();
  }
  return {};
}

}  // namespace sluice::http
