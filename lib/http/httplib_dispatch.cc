#include "lib/http/httplib_dispatch.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <httplib.h>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"

#include "lib/base/log.h"
#include "lib/base/release.h"
#include "lib/http/head_writer.h"
#include "lib/runtime/loop.h"

namespace sluice::http {
namespace {

/// All that httplib reads of any request. The method is always GET: for HEAD, too, what follows the
/// head is the answer's affair.
constexpr absl::string_view kCanonicalRequest = "GET / HTTP/1.1\r\n\r\n";

constexpr uint64_t kTurnsOfALongAnswer = 4;

/// A larger piece is not copied into its chunk. To copy a smaller one costs less than a system call
/// of more parts.
constexpr size_t kMostCopied = 4096;

/// One answer on its way to the wire:
///
///   Answer::Next -> ClientSink::Write -> httplib::DataSink, which frames it ->
///   httplib::Stream::write -> socket
///
/// As a Stream it gives httplib the canonical request, and drops what httplib writes before it asks
/// for the body, which is its head.
class AnswerStream final : public httplib::Stream, public ClientSink {
 public:
  AnswerStream(ClientConnection& connection, const HttplibDispatch::Framing& framing)
      : connection_(connection), framing_(framing) {}

  /// Runs as httplib's handler: takes the answer and names the provider of its body.
  void Begin(std::unique_ptr<Answer> answer, httplib::Response& response) {
    answer_ = std::move(answer);
    auto provider = [this](size_t, httplib::DataSink& sink) { return Provide(sink); };
    switch (answer_->body()) {
      case Answer::Body::kNone:
        while (Advance() == Answer::Step::kMore) {
        }
        break;
      case Answer::Body::kSized:
        response.set_content_provider("", std::move(provider));
        break;
      case Answer::Body::kOpen:
        chunked_ = framing_.minor_version >= 1;
        if (chunked_) {
          response.set_chunked_content_provider("", std::move(provider));
        } else {
          response.set_content_provider("", std::move(provider));
        }
        break;
    }
  }

  /// After httplib is done: sends a head that no body followed.
  HttplibDispatch::Outcome End() {
    using Outcome = HttplibDispatch::Outcome;
    answer_.reset();
    httplib_done_ = true;
    const bool whole = last_step_ == Answer::Step::kEnd && result_ == Result::kOk;
    if (!whole) return ends_with_connection_ ? Outcome::kCutOff : Outcome::kEnded;
    if (!pending_head_.empty()) write(nullptr, 0);
    return result_ == Result::kOk && keep_alive_ ? Outcome::kReusable : Outcome::kEnded;
  }

  // ClientSink:

  void WriteHead(const ResponseHead& head) override {
    // Without chunks, only the end of the connection ends a body of open length.
    ends_with_connection_ = answer_->body() == Answer::Body::kOpen && !chunked_;
    keep_alive_ = framing_.minor_version >= 1 && !ends_with_connection_ &&
                  !answer_->ends_connection() && framing_.keep_alive();
    const absl::Status written = AppendResponseHead(head, chunked_, keep_alive_, &pending_head_);
    if (written.ok()) return;
    Log(LogLevel::kError, "answer dropped", {{"reason", written.message()}});
    result_ = Result::kGone;
  }

  Result Flush(Duration stall_limit) override {
    stall_limit_ = stall_limit;
    if (result_ == Result::kOk && !pending_head_.empty()) write(nullptr, 0);
    return result_;
  }

  Result Write(absl::string_view bytes, Duration stall_limit) override {
    if (result_ != Result::kOk) return result_;
    stall_limit_ = stall_limit;
    if (chunked_ && bytes.size() > kMostCopied) {
      SendChunk(bytes);
    } else {
      body_->write(bytes.data(), bytes.size());
    }
    return result_;
  }

  void RunOnSharedStack(absl::FunctionRef<void()> work) override { runtime::RunOnLoopStack(work); }

  void LetOthersRun() override { runtime::Yield(); }

  void LetMoreCome() override { runtime::LetMoreCome(); }

  // httplib::Stream:

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }

  ssize_t read(char* out, size_t size) override {
    const size_t count = std::min(size, kCanonicalRequest.size() - request_read_);
    std::memcpy(out, kCanonicalRequest.data() + request_read_, count);
    request_read_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, size_t size) override {
    // httplib's head; where a handler threw, one with what the exception said.
    if (body_ == nullptr && !httplib_done_) return static_cast<ssize_t>(size);
    std::array<iovec, 2> parts = {Head(), iovec{const_cast<char*>(bytes), size}};
    Send(absl::MakeSpan(parts));
    return result_ == Result::kOk ? static_cast<ssize_t>(size) : -1;
  }

  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return 0; }

 private:
  iovec Head() { return {pending_head_.data(), pending_head_.size()}; }

  /// Sends `parts`, of which the first is Head().
  void Send(absl::Span<iovec> parts) {
    if (pending_head_.empty()) parts.remove_prefix(1);
    result_ = connection_.Write(parts, stall_limit_);
    Release(pending_head_);
  }

  /// The chunk that httplib's sink would make of `bytes`. That copies them twice, for as long as a
  /// slow client takes.
  void SendChunk(absl::string_view bytes) {
    char size[2 * sizeof(size_t) + sizeof "\r\n"];
    const int size_bytes = std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    char end[] = "\r\n";
    std::array<iovec, 4> parts = {Head(), iovec{size, static_cast<size_t>(size_bytes)},
                                  iovec{const_cast<char*>(bytes.data()), bytes.size()},
                                  iovec{end, sizeof end - 1}};
    Send(absl::MakeSpan(parts));
  }

  /// One turn of httplib's content provider; false ends the body where it is.
  bool Provide(httplib::DataSink& sink) {
    body_ = &sink;
    switch (Advance()) {
      case Answer::Step::kMore:
        // What the phases before the commit needed of the stack is not needed again, if the answer
        // is long enough for that to matter.
        if (++turns_ == kTurnsOfALongAnswer) runtime::ReleaseUnusedStack();
        return true;
      case Answer::Step::kEnd:
        sink.done();
        return true;
      case Answer::Step::kAbort:
        return false;
    }
    return false;
  }

  /// An exception out of a provider would end the process.
  Answer::Step Advance() {
    last_step_ = Answer::Step::kAbort;
    try {
      last_step_ = answer_->Next(*this);
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "exception in an answer", {{"what", error.what()}});
    }
    return last_step_;
  }

  ClientConnection& connection_;
  const HttplibDispatch::Framing framing_;
  std::unique_ptr<Answer> answer_;
  uint64_t turns_ = 0;
  httplib::DataSink* body_ = nullptr;  // once httplib asked for the body
  bool httplib_done_ = false;
  std::string pending_head_;
  size_t request_read_ = 0;
  Duration stall_limit_ = std::chrono::seconds(30);
  Result result_ = Result::kOk;
  Answer::Step last_step_ = Answer::Step::kMore;
  bool chunked_ = false;
  bool keep_alive_ = false;
  bool ends_with_connection_ = false;
};

}  // namespace

class HttplibDispatch::Server final : public httplib::Server {
 public:
  Server() {
    // httplib ends every chunked body once it thinks that its listener is gone. Ours is elsewhere;
    // any descriptor other than INVALID_SOCKET will do, and nothing uses it: neither listen() nor
    // stop() is called.
    svr_sock_ = 0;
    set_pre_routing_handler([](const httplib::Request&, httplib::Response& response) {
      std::exchange(handler, nullptr)->operator()(response);
      response.status = 200;
      return HandlerResponse::Handled;
    });
  }

  using Handle = std::function<void(httplib::Response&)>;

  bool Process(httplib::Stream& stream, const Handle& handle) {
    bool connection_closed = false;
    return process_request(stream, /*close_connection=*/false, connection_closed,
                           [&handle](httplib::Request&) { handler = &handle; });
  }

 private:
  /// From httplib's set-up of a request to its handler, which runs next on the same fiber, with no
  /// wait between: httplib gives the handler nothing else of ours.
  static thread_local const Handle* handler;
};

thread_local const HttplibDispatch::Server::Handle* HttplibDispatch::Server::handler = nullptr;

HttplibDispatch::HttplibDispatch() : server_(std::make_unique<Server>()) {}
HttplibDispatch::~HttplibDispatch() = default;

HttplibDispatch::Outcome HttplibDispatch::Run(
    ClientConnection& connection, const Framing& framing,
    const std::function<std::unique_ptr<Answer>()>& serve) {
  AnswerStream stream(connection, framing);
  const bool processed = server_->Process(
      stream, [&](httplib::Response& response) { stream.Begin(serve(), response); });
  const Outcome outcome = stream.End();
  return processed ? outcome : std::max(outcome, Outcome::kEnded);
}

}  // namespace sluice::http
