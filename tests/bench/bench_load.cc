// The clients of the benchmarks: opens streams through a proxy, or to bench_engine itself, and
// measures when each event arrives after it was sent. Prints one JSON object.
//
//   bench_load PORT STREAMS SECONDS QUERY
//
// Each of STREAMS connections sends requests with ?QUERY (see bench_engine) one after another. When
// each has had its first event, or answer, and half a second passed, prints "counting" and counts
// for SECONDS. `first_us` is from a request to its first event, of requests sent while counting;
// `opening_us` is the same of the first requests, which all connections send at once. An answer
// other than 200, one cut short and a failed connection are errors, at any time.

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tests/bench/deframer.h"
#include "tests/bench/histogram.h"

namespace {

using sluice::bench::Deframer;
using sluice::bench::Histogram;

int64_t NowNs() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

struct Stream {
  int fd = -1;
  int64_t sent = 0;     // when the request was
  bool opened = false;  // the first request had its first event
  bool first_seen = false;
  Deframer deframer;
  std::string tail;  // the end of the body so far, where an event may be cut
};

class Load {
 public:
  Load(int port, int streams, double seconds, const std::string& query)
      : port_(port),
        seconds_(seconds),
        streams_(static_cast<size_t>(streams)),
        epoll_(epoll_create1(0)),
        unary_(query.find("unary=") != std::string::npos) {
    const std::string body =
        R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";
    request_ = "POST /v1/chat/completions?" + query +
               " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  void Run() {
    for (Stream& stream : streams_) Connect(stream);
    const int64_t latest = NowNs() + kOpeningNs;
    ReadUntil([&] { return opened() || NowNs() >= latest; });
    if (!opened()) errors_ += static_cast<int64_t>(streams_.size()) - opening_.total();
    const int64_t settled = NowNs() + kSettlingNs;
    ReadUntil([&] { return NowNs() >= settled; });

    std::puts("counting");
    std::fflush(stdout);
    counted_from_ = NowNs();
    const int64_t end = counted_from_ + static_cast<int64_t>(seconds_ * 1e9);
    ReadUntil([&] { return NowNs() >= end; });
    std::printf("{\"events\":%lld,\"seconds\":%.3f,\"answers\":%lld,\"errors\":%lld",
                Long(transit_.total()), seconds_, Long(answers_), Long(errors_));
    Print("transit_us", transit_);
    Print("first_us", first_);
    Print("opening_us", opening_);
    std::puts("}");
  }

 private:
  static constexpr int64_t kOpeningNs = 20'000'000'000;
  static constexpr int64_t kSettlingNs = 500'000'000;

  static long long Long(int64_t number) { return number; }

  static void Print(const char* name, const Histogram& histogram) {
    std::printf(",\"%s\":{\"count\":%lld,\"p50\":%.2f,\"p99\":%.2f}", name, Long(histogram.total()),
                histogram.QuantileUs(0.5), histogram.QuantileUs(0.99));
  }

  template <typename Condition>
  void ReadUntil(Condition done) {
    std::array<epoll_event, 512> events;
    while (!done()) {
      const int count = epoll_wait(epoll_, events.data(), events.size(), 20);
      for (int i = 0; i < count; ++i) Read(streams_[events[i].data.u32]);
    }
  }

  bool opened() const { return opening_.total() >= static_cast<int64_t>(streams_.size()); }
  bool counting() const { return counted_from_ > 0; }

  void Connect(Stream& stream) {
    const bool opened = stream.opened;
    stream = {};
    stream.opened = opened;
    stream.fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    setsockopt(stream.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(stream.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      ++errors_;
      close(stream.fd);
      return;
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = static_cast<uint32_t>(&stream - streams_.data());
    epoll_ctl(epoll_, EPOLL_CTL_ADD, stream.fd, &event);
    Send(stream);
  }

  void Send(Stream& stream) {
    stream.sent = NowNs();
    stream.first_seen = false;
    if (send(stream.fd, request_.data(), request_.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request_.size()))
      ++errors_;
  }

  void Read(Stream& stream) {
    const ssize_t got = recv(stream.fd, buffer_, sizeof buffer_, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      ++errors_;
      close(stream.fd);
      return Connect(stream);
    }
    const int64_t now = NowNs();
    const int ended = stream.deframer.Feed(buffer_, static_cast<size_t>(got), &stream.tail);
    if (stream.deframer.refused()) {
      ++errors_;
      close(stream.fd);
      return Connect(stream);
    }
    if (unary_) {
      stream.tail.clear();
      if (ended > 0) TakeFirst(stream, now);
    } else {
      TakeEvents(stream, now);
    }
    if (ended == 0) return;
    if (counting()) ++answers_;
    Send(stream);
  }

  void TakeFirst(Stream& stream, int64_t now) {
    if (!std::exchange(stream.opened, true)) {
      opening_.Add(now - stream.sent);
    } else if (counting() && stream.sent >= counted_from_) {
      first_.Add(now - stream.sent);
    }
  }

  void TakeEvents(Stream& stream, int64_t now) {
    size_t at = 0;
    for (size_t end; (end = stream.tail.find("\n\n", at)) != std::string::npos; at = end + 2) {
      const char* event = stream.tail.data() + at;
      if (std::strncmp(event, "data: {\"created\":", 17) == 0) {
        if (!std::exchange(stream.first_seen, true)) TakeFirst(stream, now);
        if (counting()) transit_.Add(now - std::strtoll(event + 17, nullptr, 10));
      } else if (std::strncmp(event, "data: [DONE]", 12) != 0) {
        ++errors_;
      }
    }
    stream.tail.erase(0, at);
  }

  const int port_;
  const double seconds_;
  std::vector<Stream> streams_;
  const int epoll_;
  const bool unary_;
  std::string request_;
  int64_t counted_from_ = 0;  // 0: not yet
  Histogram transit_;
  Histogram first_;
  Histogram opening_;
  int64_t answers_ = 0;
  int64_t errors_ = 0;
  char buffer_[65536];
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: bench_load PORT STREAMS SECONDS QUERY\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  static Load load(std::atoi(argv[1]), std::atoi(argv[2]), std::atof(argv[3]), argv[4]);
  load.Run();
}
