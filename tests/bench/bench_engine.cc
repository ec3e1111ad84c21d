// The upstream of the benchmarks: streams events that carry the time they were sent.
//
//   bench_engine PORT
//
// Each request says what it wants in its query, which every proxy passes on unchanged:
//   events=N       events in the stream, before [DONE]
//   interval_us=N  between two writes, the first of which is at once; 0: as fast as the socket
//   takes
//                  them
//   bytes=N        size of one event, at least what its fields need
//   burst=N        events in one write
//   unary=N        instead: a JSON answer of N bytes with its length; `id` is the path asked for
//   silent=N       instead: one event, then nothing; when the client has gone, prints N and the
//                  time in ns

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <queue>
#include <signal.h>
#include <string>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace {

int64_t NowNs() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

int64_t Parameter(const std::string& head, const char* name, int64_t otherwise) {
  const std::string query = head.substr(0, head.find('\n'));
  const size_t at = query.find(std::string(name) + "=");
  return at == std::string::npos ? otherwise
                                 : std::atoll(query.c_str() + at + std::strlen(name) + 1);
}

constexpr char kStreamHead[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

struct Stream {
  int fd = -1;
  std::string input;
  bool streaming = false;
  int64_t silent = 0;
  int64_t events_left = 0;
  int64_t interval_ns = 0;
  int64_t event_bytes = 180;
  int64_t burst = 1;
  int64_t due = 0;
  std::string unsent;
};

class Engine {
 public:
  explicit Engine(int port)
      : epoll_(epoll_create1(0)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 4096) != 0) {
      std::perror("bench_engine");
      std::exit(1);
    }
    Watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
  }

  [[noreturn]] void Run() {
    std::array<epoll_event, 512> events;
    while (true) {
      const int count = Wait(&events);
      for (int i = 0; i < count; ++i) {
        const int fd = events[i].data.fd;
        if (fd == listener_) {
          Accept();
        } else {
          const auto entry = streams_.find(fd);
          if (entry != streams_.end()) OnReady(*entry->second, events[i].events);
        }
      }
      SendDue();
      closed_.clear();
    }
  }

 private:
  using Due = std::pair<int64_t, int>;

  void Watch(int fd, uint32_t what, int operation) {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    epoll_ctl(epoll_, operation, fd, &event);
  }

  /// Sleeps to the very time of the next write: an engine that polled its last millisecond would
  /// take the core from the clients it shares it with.
  int Wait(std::array<epoll_event, 512>* events) const {
    const int64_t left = due_.empty() ? 0 : std::max<int64_t>(0, due_.top().first - NowNs());
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    return epoll_pwait2(epoll_, events->data(), static_cast<int>(events->size()),
                        due_.empty() ? nullptr : &timeout, nullptr);
  }

  void Accept() {
    int fd;
    while ((fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0) {
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      auto stream = std::make_unique<Stream>();
      stream->fd = fd;
      streams_[fd] = std::move(stream);
      Watch(fd, EPOLLIN, EPOLL_CTL_ADD);
    }
  }

  void Close(Stream& stream) {
    if (stream.fd < 0) return;
    if (stream.silent > 0) {
      std::printf("%lld %lld\n", static_cast<long long>(stream.silent),
                  static_cast<long long>(NowNs()));
      std::fflush(stdout);
    }
    // Who called may still look at it.
    const auto entry = streams_.find(stream.fd);
    closed_.push_back(std::move(entry->second));
    streams_.erase(entry);
    close(std::exchange(stream.fd, -1));
  }

  void OnReady(Stream& stream, uint32_t what) {
    if (stream.fd < 0) return;
    if (what & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
      char buffer[16384];
      const ssize_t got = read(stream.fd, buffer, sizeof buffer);
      if (got == 0 || (got < 0 && errno != EAGAIN)) return Close(stream);
      if (got > 0) stream.input.append(buffer, static_cast<size_t>(got));
      TakeRequest(stream);
    }
    if (stream.fd >= 0 && (what & EPOLLOUT)) Fill(stream);
  }

  void TakeRequest(Stream& stream) {
    const size_t end = stream.input.find("\r\n\r\n");
    if (stream.streaming || end == std::string::npos) return;
    const std::string head = stream.input.substr(0, end);
    size_t length = 0;
    for (const char* name : {"Content-Length: ", "content-length: "}) {
      if (const size_t at = head.find(name); at != std::string::npos)
        length = std::strtoull(head.c_str() + at + 16, nullptr, 10);
    }
    if (stream.input.size() < end + 4 + length) return;
    stream.input.erase(0, end + 4 + length);

    if (const int64_t size = Parameter(head, "unary", 0); size > 0) {
      const size_t path = head.find(' ') + 1;
      std::string body = absl::StrCat(
          "{\"id\":\"", head.substr(path, head.find('?') - path),
          "\",\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2},\"pad\":\"");
      body.resize(
          static_cast<size_t>(std::max<int64_t>(size, static_cast<int64_t>(body.size()) + 2)) - 2,
          'x');
      body += "\"}";
      stream.unsent = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n" + body;
      Flush(stream);
      return;
    }
    stream.silent = Parameter(head, "silent", 0);
    if (stream.silent > 0) {
      stream.unsent = kStreamHead;
      AppendEvent(stream);
      Flush(stream);
      return;
    }
    stream.streaming = true;
    stream.events_left = Parameter(head, "events", 100);
    stream.interval_ns = Parameter(head, "interval_us", 0) * 1000;
    stream.event_bytes = std::max<int64_t>(0, Parameter(head, "bytes", 180));
    stream.burst = std::max<int64_t>(1, Parameter(head, "burst", 1));
    stream.unsent = kStreamHead;
    if (!Flush(stream)) return;
    if (stream.interval_ns > 0) {
      Fill(stream);
      if (stream.fd < 0 || !stream.streaming) return;
      // Spread over the interval, as streams that began at different times are.
      stream.due = NowNs() + static_cast<int64_t>(std::rand()) % stream.interval_ns;
      due_.emplace(stream.due, stream.fd);
    } else {
      Watch(stream.fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
    }
  }

  /// One write of events, or of the end.
  void Fill(Stream& stream) {
    if (!stream.streaming || !Flush(stream)) return;
    for (int64_t i = 0; i < stream.burst && stream.events_left > 0; ++i, --stream.events_left)
      AppendEvent(stream);
    if (stream.unsent.empty()) {
      stream.unsent = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
      stream.streaming = false;
      if (stream.interval_ns == 0) Watch(stream.fd, EPOLLIN, EPOLL_CTL_MOD);
    }
    Flush(stream);
  }

  /// One chunk with one event, as chat engines send them; `created` carries the time.
  static void AppendEvent(Stream& stream) {
    constexpr absl::string_view kTail = "\"},\"finish_reason\":null}]}\n\n";
    const std::string head =
        absl::StrCat("data: {\"created\":", NowNs(),
                     ",\"id\":\"b\",\"object\":\"chat.completion.chunk\",\"model\":\"m\","
                     "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"");
    const size_t fixed = head.size() + kTail.size();
    const size_t padding = std::max(static_cast<size_t>(stream.event_bytes), fixed) - fixed;
    absl::StrAppend(&stream.unsent, absl::Hex(fixed + padding), "\r\n", head,
                    std::string(padding, 'x'), kTail, "\r\n");
  }

  /// Whether all was sent.
  bool Flush(Stream& stream) {
    while (!stream.unsent.empty()) {
      const ssize_t put = send(stream.fd, stream.unsent.data(), stream.unsent.size(), MSG_NOSIGNAL);
      if (put < 0) {
        if (errno != EAGAIN) Close(stream);
        return false;
      }
      stream.unsent.erase(0, static_cast<size_t>(put));
    }
    return true;
  }

  void SendDue() {
    while (!due_.empty() && due_.top().first <= NowNs()) {
      const int fd = due_.top().second;
      const int64_t due = due_.top().first;
      due_.pop();
      const auto entry = streams_.find(fd);
      if (entry == streams_.end() || entry->second->due != due) continue;
      Stream& stream = *entry->second;
      Fill(stream);
      if (stream.fd < 0 || !stream.streaming) continue;
      stream.due = due + stream.interval_ns;
      due_.emplace(stream.due, fd);
    }
  }

  const int epoll_;
  const int listener_;
  std::unordered_map<int, std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<Stream>> closed_;  // in this round
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_engine PORT\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_TIMERSLACK, 1UL);
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  Engine(std::atoi(argv[1])).Run();
}
