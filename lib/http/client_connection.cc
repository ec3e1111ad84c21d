#include "lib/http/client_connection.h"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "lib/base/release.h"
#include "lib/runtime/loop.h"

namespace sluice::http {
namespace {

using runtime::Interrupts;
using runtime::Wake;

constexpr Duration kLinger = std::chrono::seconds(2);
/// A client that sends nothing for so long gets no memory for what it may send.
constexpr Duration kSoon = std::chrono::seconds(1);

Instant Now() { return std::chrono::steady_clock::now(); }

}  // namespace

ClientConnection::ClientConnection(int fd, std::string peer, const ReadLimits& limits)
    : socket_(fd), peer_(std::move(peer)), limits_(limits) {}

ClientConnection::Incoming ClientConnection::ReadRequest(const RequestParser::Limits& limits) {
  Incoming incoming;
  const Instant idle_since = Now();
  if (unparsed_.empty()) {
    const Duration patience = first_request_ ? limits_.head : limits_.keep_alive;
    idle_ = true;
    ReadResult read = ReadMore(idle_since + std::min(patience, kSoon));
    if (read == ReadResult::kDeadline && patience > kSoon) {
      runtime::ReleaseUnusedStack();
      read = ReadMore(idle_since + patience);
    }
    idle_ = false;
    if (read != ReadResult::kBytes) return incoming;
  }
  RequestParser parser(limits);
  const Instant head_deadline = (first_request_ ? idle_since : Now()) + limits_.head;
  first_request_ = false;

  bool feed_rest = true;
  Instant body_start;
  size_t body_bytes = 0;
  while (true) {
    const bool in_body = parser.head_done();
    const Instant deadline = in_body ? BodyDeadline(body_start, body_bytes) : head_deadline;
    if (!feed_rest) {
      const ReadResult read = ReadMore(deadline);
      if (read == ReadResult::kDeadline) {
        incoming.kind = Incoming::kRefused;
        incoming.refusal = {
            Cause::kRequestTimeout,
            absl::StrCat("the request's ", in_body ? "body" : "head", " came too slowly")};
        incoming.accepted = Now();
        return incoming;
      }
      if (read != ReadResult::kBytes) return incoming;
    }
    feed_rest = false;

    size_t consumed = 0;
    const RequestParser::Result result = parser.Feed(unparsed_, &consumed);
    unparsed_.erase(0, consumed);
    if (unparsed_.empty()) Release(unparsed_);
    if (in_body) body_bytes += consumed;
    switch (result) {
      case RequestParser::Result::kNeedMore:
        break;
      case RequestParser::Result::kHeadDone: {
        feed_rest = true;
        body_start = incoming.accepted = Now();
        // A client whose body is on its way needs no leave to send it.
        if (!parser.wants_continue() || !unparsed_.empty()) break;
        char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
        iovec part{text, sizeof text - 1};
        if (Write(absl::MakeSpan(&part, 1), limits_.head) != ClientSink::Result::kOk)
          return incoming;
        break;
      }
      case RequestParser::Result::kRefused:
        incoming.kind = Incoming::kRefused;
        incoming.refusal = parser.refusal();
        incoming.accepted = Now();
        return incoming;
      case RequestParser::Result::kDone:
        incoming.kind = Incoming::kRequest;
        incoming.keep_alive = parser.keep_alive();
        incoming.request = parser.TakeRequest();
        incoming.request.client_address = peer_;
        return incoming;
    }
  }
}

ClientConnection::ReadResult ClientConnection::ReadMore(Instant deadline) {
  while (true) {
    switch (socket_.WaitReadable(deadline)) {
      case Wake::kReady:
        break;
      case Wake::kDeadline:
        return ReadResult::kDeadline;
      case Wake::kInterrupted:
        return ReadResult::kInterrupted;
    }
    const runtime::BufferPool::Lease buffer = runtime::Loop::Current()->buffers().Take();
    const ssize_t got = socket_.Read(buffer.data(), buffer.size());
    if (got < 0 && errno == EAGAIN) continue;
    if (got <= 0) return ReadResult::kEnd;
    unparsed_.append(buffer.data(), static_cast<size_t>(got));
    return ReadResult::kBytes;
  }
}

Instant ClientConnection::BodyDeadline(Instant body_start, size_t body_bytes) const {
  const auto earned = std::chrono::seconds(body_bytes / limits_.body_bytes_per_second);
  return body_start + std::min<Duration>(limits_.body, limits_.body_grace + earned);
}

ClientSink::Result ClientConnection::Write(absl::Span<iovec> parts, Duration stall_limit) {
  while (true) {
    if (socket_.hung_up()) return ClientSink::Result::kGone;
    const ssize_t put = socket_.Write(parts);
    if (put < 0 && errno != EAGAIN) return ClientSink::Result::kGone;
    size_t sent = put > 0 ? static_cast<size_t>(put) : 0;
    for (; !parts.empty(); parts.remove_prefix(1)) {
      iovec& part = parts.front();
      if (sent < part.iov_len) {
        part.iov_base = static_cast<char*>(part.iov_base) + sent;
        part.iov_len -= sent;
        break;
      }
      sent -= part.iov_len;
    }
    if (parts.empty()) return ClientSink::Result::kOk;
    switch (socket_.WaitWritable(DeadlineAfter(Now(), stall_limit), Interrupts::kHeedNew)) {
      case Wake::kReady:
        break;
      case Wake::kDeadline:
        return ClientSink::Result::kStalled;
      case Wake::kInterrupted:
        return ClientSink::Result::kGone;
    }
  }
}

void ClientConnection::LingerAndClose() {
  ::shutdown(socket_.fd(), SHUT_WR);
  const Instant deadline = Now() + kLinger;
  while (Now() < deadline && socket_.WaitReadable(deadline, Interrupts::kHeedNew) == Wake::kReady) {
    const runtime::BufferPool::Lease buffer = runtime::Loop::Current()->buffers().Take();
    const ssize_t got = socket_.Read(buffer.data(), buffer.size());
    if (got == 0 || (got < 0 && errno != EAGAIN)) return;
  }
}

void ClientConnection::ResetOnClose() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace sluice::http
