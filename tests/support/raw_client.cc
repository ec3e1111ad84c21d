#include "tests/support/raw_client.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "lib/base/status.h"
#include "tests/support/http_text.h"

namespace sluice::testing {
namespace {

Instant DeadlineFromNow(Duration patience) {
  return DeadlineAfter(std::chrono::steady_clock::now(), patience);
}

RawResponse::End EndOf(const absl::Status& error) {
  switch (error.code()) {
    case absl::StatusCode::kAborted:
      return RawResponse::End::kReset;
    case absl::StatusCode::kInvalidArgument:
      return RawResponse::End::kBadFraming;
    default:
      return RawResponse::End::kTruncated;
  }
}

}  // namespace

std::vector<std::string> RawResponse::HeaderValues(absl::string_view name) const {
  return FieldValues(head, name);
}

absl::StatusOr<RawClient> RawClient::Connect(uint16_t port, Options options) {
  RawClient client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(client.fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (options.receive_buffer_bytes > 0) {
    ::setsockopt(client.fd_, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer_bytes,
                 sizeof(options.receive_buffer_bytes));
  }
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (::connect(client.fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    return absl::UnavailableError(absl::StrCat("connect to port ", port, ": ", strerror(errno)));
  }
  return client;
}

RawClient::RawClient(RawClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), unread_(std::move(other.unread_)) {}

RawClient& RawClient::operator=(RawClient&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(unread_, other.unread_);
  return *this;
}

RawClient::~RawClient() { Close(); }

absl::Status RawClient::Send(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::AbortedError(absl::StrCat("send: ", strerror(errno)));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::StatusOr<RawResponse> RawClient::ReadResponse(bool to_head, Duration patience) {
  const Instant deadline = DeadlineFromNow(patience);
  const auto left = [deadline] { return deadline - std::chrono::steady_clock::now(); };
  RawResponse response;
  SLUICE_ASSIGN_OR_RETURN(response.head, ReadHead(left()));
  const std::vector<absl::string_view> status_line =
      absl::StrSplit(response.head, absl::MaxSplits(' ', 2));
  if (status_line.size() < 2 || !absl::SimpleAtoi(status_line[1].substr(0, 3), &response.status)) {
    return absl::InvalidArgumentError(absl::StrCat("no status line: ", response.head));
  }
  const std::vector<std::string> lengths = response.HeaderValues("Content-Length");
  const std::vector<std::string> codings = response.HeaderValues("Transfer-Encoding");
  const bool has_no_body =
      to_head || response.status / 100 == 1 || response.status == 204 || response.status == 304;
  absl::Status end;
  if (has_no_body) return response;
  if (!codings.empty()) {
    while (true) {
      const absl::StatusOr<std::string> chunk = ReadChunk(&response.trailers, left());
      if (!chunk.ok()) end = chunk.status();
      if (!chunk.ok() || chunk->empty()) break;
      response.chunks.push_back(*chunk);
      response.body += *chunk;
    }
  } else if (uint64_t length = 0; !lengths.empty() && absl::SimpleAtoi(lengths[0], &length)) {
    end = ReadUntil([length](absl::string_view unread) { return unread.size() >= length; }, left());
    response.body = unread_.substr(0, length);
    unread_.erase(0, length);
  } else {
    end = ReadToEnd(left());
    response.body = std::exchange(unread_, "");
  }
  if (absl::IsDeadlineExceeded(end)) return end;
  if (!end.ok()) response.end = EndOf(end);
  return response;
}

absl::StatusOr<std::string> RawClient::ReadHead(Duration patience) {
  constexpr absl::string_view kHeadEnd = "\r\n\r\n";
  SLUICE_RETURN_IF_ERROR(ReadUntil(
      [kHeadEnd](absl::string_view unread) { return absl::StrContains(unread, kHeadEnd); },
      patience));
  return ReadBytes(unread_.find(kHeadEnd.data()) + kHeadEnd.size());
}

absl::StatusOr<std::string> RawClient::ReadChunk(std::string* trailers, Duration patience) {
  const Instant deadline = DeadlineFromNow(patience);
  SLUICE_ASSIGN_OR_RETURN(const std::string size_line, ReadLine(deadline));
  if (size_line.empty() || size_line.size() > 15 ||
      !std::all_of(size_line.begin(), size_line.end(), absl::ascii_isxdigit)) {
    return absl::InvalidArgumentError(absl::StrCat("not a chunk size: ", size_line));
  }
  const size_t size = std::strtoull(size_line.c_str(), nullptr, 16);
  if (size == 0) {
    while (true) {
      SLUICE_ASSIGN_OR_RETURN(const std::string line, ReadLine(deadline));
      if (line.empty()) return std::string();
      if (trailers != nullptr) absl::StrAppend(trailers, line, "\r\n");
    }
  }
  SLUICE_RETURN_IF_ERROR(
      ReadUntil([size](absl::string_view unread) { return unread.size() >= size + 2; },
                deadline - std::chrono::steady_clock::now()));
  std::string payload = unread_.substr(0, size);
  if (unread_.compare(size, 2, "\r\n") != 0) {
    return absl::InvalidArgumentError("no CRLF after a chunk's data");
  }
  unread_.erase(0, size + 2);
  return payload;
}

absl::StatusOr<std::string> RawClient::ReadBytes(size_t count, Duration patience) {
  SLUICE_RETURN_IF_ERROR(
      ReadUntil([count](absl::string_view unread) { return unread.size() >= count; }, patience));
  std::string bytes = unread_.substr(0, count);
  unread_.erase(0, count);
  return bytes;
}

absl::Status RawClient::ReadUntil(const std::function<bool(absl::string_view)>& ready,
                                  Duration patience) {
  const Instant deadline = DeadlineFromNow(patience);
  while (!ready(unread_)) SLUICE_RETURN_IF_ERROR(ReadSome(deadline));
  return absl::OkStatus();
}

absl::Status RawClient::ReadToEnd(Duration patience) {
  const absl::Status end = ReadUntil([](absl::string_view) { return false; }, patience);
  return absl::IsOutOfRange(end) ? absl::OkStatus() : end;
}

void RawClient::HalfClose() { ::shutdown(fd_, SHUT_WR); }

void RawClient::Reset() {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  Close();
}

void RawClient::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

absl::Status RawClient::ReadSome(Instant deadline) {
  const Duration left = std::max(deadline - std::chrono::steady_clock::now(), Duration::zero());
  pollfd readable = {.fd = fd_, .events = POLLIN, .revents = 0};
  const auto timeout =
      std::chrono::ceil<std::chrono::milliseconds>(std::min<Duration>(left, std::chrono::hours(1)));
  if (::poll(&readable, 1, static_cast<int>(timeout.count())) == 0) {
    return absl::DeadlineExceededError(
        absl::StrCat("nothing more came; unread: ", unread_.size(), " bytes"));
  }
  std::array<char, 65536> bytes;
  const ssize_t n = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n == 0) return absl::OutOfRangeError("the peer closed the connection (FIN)");
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return absl::OkStatus();
  if (n < 0) return absl::AbortedError(absl::StrCat("recv: ", strerror(errno)));
  unread_.append(bytes.data(), static_cast<size_t>(n));
  return absl::OkStatus();
}

absl::StatusOr<std::string> RawClient::ReadLine(Instant deadline) {
  SLUICE_RETURN_IF_ERROR(
      ReadUntil([](absl::string_view unread) { return absl::StrContains(unread, "\r\n"); },
                deadline - std::chrono::steady_clock::now()));
  const size_t end = unread_.find("\r\n");
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 2);
  return line;
}

std::string PostRequest(absl::string_view target, absl::string_view body,
                        absl::string_view extra_headers) {
  return absl::StrCat("POST ", target,
                      " HTTP/1.1\r\nHost: sluice.test\r\nContent-Type: application/json\r\n",
                      extra_headers, "Content-Length: ", body.size(), "\r\n\r\n", body);
}

std::string ChatRequest(bool stream, absl::string_view extra_headers) {
  return PostRequest("/v1/chat/completions",
                     absl::StrCat(R"({"model":"m1","stream":)", stream ? "true" : "false",
                                  R"(,"messages":[{"role":"user","content":"hi"}]})"),
                     extra_headers);
}

std::string GetRequest(absl::string_view target, absl::string_view extra_headers) {
  return absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: sluice.test\r\n", extra_headers, "\r\n");
}

}  // namespace sluice::testing
