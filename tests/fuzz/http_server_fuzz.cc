// The way of a client's bytes through the whole server: socket, strict reader, httplib, handler.
// What the handler sees must be what the reader alone makes of the same bytes, however they are
// cut; each request gets one answer; and nothing behind a refusal is run.

#include <arpa/inet.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "lib/http/server.h"
#include "lib/runtime/loop_threads.h"
#include "lib/runtime/socket.h"
#include "tests/fuzz/pieces.h"
#include "tests/http/request_script.h"

namespace sluice::http {
namespace {

constexpr absl::string_view kMark = "X-Mark: 1\r\n";  // in every answer's head, once
constexpr size_t kMaxBodyBytes = 256;
constexpr auto kPatience = std::chrono::seconds(20);

Instant Now() { return std::chrono::steady_clock::now(); }

std::string Describe(const Request& request) {
  std::string text =
      absl::StrCat(request.method, " ", request.target, " 1.", request.minor_version, "\n");
  for (const Header& field : request.headers)
    absl::StrAppend(&text, field.name, "=", field.value, "\n");
  return absl::StrCat(text, request.body);
}

/// An answer of any of the three kinds of body.
class MarkedAnswer final : public Answer {
 public:
  MarkedAnswer(Body kind, bool refusal) : kind_(kind), refusal_(refusal) {}

  Body body() const override { return kind_; }
  bool ends_connection() const override { return refusal_; }
  Step Next(ClientSink& sink) override {
    ResponseHead head;
    head.status = refusal_ ? 400 : 200;
    head.headers.Add("X-Mark", "1");
    if (kind_ == Body::kSized) head.headers.Add("Content-Length", "2");
    sink.WriteHead(head);
    if (kind_ != Body::kNone) sink.Write("ok", kPatience);
    return Step::kEnd;
  }

 private:
  const Body kind_;
  const bool refusal_;
};

/// Keeps what it is asked.
class RecordingHandler final : public Handler {
 public:
  size_t max_body_bytes() const override { return kMaxBodyBytes; }
  std::unique_ptr<Answer> Serve(Request request, Instant, Cancellation&) override {
    const auto kind = static_cast<Answer::Body>(request.target.size() % 3);
    seen.push_back(Describe(request));
    return std::make_unique<MarkedAnswer>(kind, /*refusal=*/false);
  }
  std::unique_ptr<Answer> Refuse(Cause cause, absl::string_view message, absl::string_view, Instant,
                                 Cancellation&) override {
    seen.push_back(absl::StrCat(InfoOf(cause).label, ": ", message));
    return std::make_unique<MarkedAnswer>(Answer::Body::kSized, /*refusal=*/true);
  }

  std::vector<std::string> seen;  // on the loop
};

/// What a server may make of `bytes`, by its reader alone.
struct Expected {
  std::vector<std::string> seen;
  bool closes = false;  // behind the last answer, without the client's doing
};

Expected ExpectedOf(absl::string_view bytes) {
  const RequestParser::Limits limits = {.max_body_bytes = kMaxBodyBytes};
  Expected expected;
  std::string rest(bytes);
  while (!rest.empty()) {
    RequestOutcome outcome = ReadRequest(Whole(rest), limits);
    if (outcome.result == RequestParser::Result::kRefused) {
      expected.seen.push_back(
          absl::StrCat(InfoOf(outcome.refusal.cause).label, ": ", outcome.refusal.message));
      expected.closes = true;
      break;
    }
    if (outcome.result != RequestParser::Result::kDone) break;
    expected.seen.push_back(Describe(outcome.request));
    if (!outcome.keep_alive || outcome.request.minor_version == 0) {
      expected.closes = true;
      break;
    }
    rest = std::move(outcome.leftover);
  }
  return expected;
}

/// A client on the server's own loop, so that each piece is a read of its own.
class Client {
 public:
  explicit Client(int port) : socket_(Open()) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int connected =
        ::connect(socket_.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    FUZZ_CHECK(connected == 0 || errno == EINPROGRESS);
    const int no_delay = 1;
    ::setsockopt(socket_.fd(), IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay);
    // The end is a reset: thousands of these a second must not wait for their ports.
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket_.ExpectConnect();
    FUZZ_CHECK(socket_.WaitWritable(Now() + kPatience) == runtime::Wake::kReady);
  }

  /// The server may have closed by now.
  void Send(std::string piece) {
    iovec part{piece.data(), piece.size()};
    (void)socket_.Write(absl::MakeSpan(&part, 1));
    runtime::SleepUntil(Now());  // until the others have had their turn
  }

  /// Reads until that many answers are there, and to the end if there must be one.
  void ReadAnswers(size_t count, bool to_the_end) {
    while (marks_ < count || to_the_end) {
      FUZZ_CHECK(socket_.WaitReadable(Now() + kPatience) == runtime::Wake::kReady);
      char buffer[4096];
      const ssize_t got = socket_.Read(buffer, sizeof buffer);
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0) break;
      received_.append(buffer, static_cast<size_t>(got));
      const absl::string_view all = received_;
      for (size_t at; (at = all.find(kMark, counted_)) != absl::string_view::npos; ++marks_) {
        counted_ = at + kMark.size();
      }
    }
    FUZZ_CHECK(marks_ == count);
  }

 private:
  static int Open() { return ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

  runtime::Socket socket_;
  std::string received_;
  size_t counted_ = 0;  // of received_
  size_t marks_ = 0;
};

/// One server for all inputs; it ends with the process.
class Harness {
 public:
  Harness() : server_({}, handler_, threads_.loops()) {
    FUZZ_CHECK(server_.Listen("127.0.0.1:0").ok());
  }

  void Check(const std::vector<std::string>& pieces, const Expected& expected) {
    OnLoop([&] {
      handler_.seen.clear();
      Client client(server_.port());
      for (const std::string& piece : pieces) client.Send(piece);
      client.ReadAnswers(expected.seen.size(), expected.closes);
    });
    OnLoop([&] {
      while (server_.connections() > 0) runtime::SleepUntil(Now());
      FUZZ_CHECK(handler_.seen == expected.seen);
    });
  }

 private:
  void OnLoop(const std::function<void()>& body) {
    runtime::Loop& loop = *threads_.loops().front();
    std::promise<void> done;
    loop.Post([&] {
      FUZZ_CHECK(loop.Spawn([&] {
        body();
        done.set_value();
      }));
    });
    done.get_future().wait();
  }

  RecordingHandler handler_;
  runtime::LoopThreads threads_{1};
  Server server_;
};

}  // namespace
}  // namespace sluice::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto& harness = *new sluice::http::Harness();
  const sluice::fuzz::CutInput input(data, size);
  const sluice::http::Expected expected = sluice::http::ExpectedOf(input.bytes());
  harness.Check(sluice::http::Whole(input.bytes()), expected);
  harness.Check(input.pieces(), expected);
  return 0;
}
