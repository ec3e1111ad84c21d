// The clients of the benchmarks: opens streams through a proxy, or to bench_engine itself, and
// measures when each event arrives after it was sent. Prints one JSON object.
//
//   bench_load PORT STREAMS SECONDS QUERY
//
// Each of STREAMS connections sends requests with ?QUERY (see bench_engine) one after another until
// SECONDS have passed; what arrives in the first tenth is not counted.

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
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

int64_t NowNs() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// Counts of latencies in steps of 1/16 of a power of two: within 6 %, of any size, in fixed
/// memory.
class Histogram {
 public:
  void Add(int64_t ns) {
    ++counts_[Index(std::max<int64_t>(ns, 1))];
    ++total_;
  }
  double QuantileUs(double q) const {
    auto rank = static_cast<int64_t>(q * static_cast<double>(total_));
    for (size_t i = 0; i < counts_.size(); ++i) {
      rank -= counts_[i];
      if (rank < 0) return static_cast<double>(Value(i)) / 1000.0;
    }
    return 0;
  }
  int64_t total() const { return total_; }

 private:
  static size_t Index(int64_t ns) {
    const int power = 63 - __builtin_clzll(static_cast<uint64_t>(ns));
    const int64_t part = power >= 4 ? (ns >> (power - 4)) & 15 : 0;
    return static_cast<size_t>(power * 16 + part);
  }
  static int64_t Value(size_t index) {
    const int64_t power = static_cast<int64_t>(index) / 16;
    return power < 4 ? int64_t{1} << power : (16 + static_cast<int64_t>(index) % 16) << (power - 4);
  }
  std::array<int64_t, 1024> counts_{};
  int64_t total_ = 0;
};

/// Takes the framing off answers that come one after another: heads, lengths, chunks.
class Deframer {
 public:
  /// Appends body bytes of `bytes` to `*body`; returns how many answers ended in them.
  int Feed(const char* bytes, size_t size, std::string* body) {
    int ended = 0;
    for (size_t i = 0; i < size;) {
      if (data_left_ > 0) {
        const size_t count = std::min<size_t>(data_left_, size - i);
        body->append(bytes + i, count);
        i += count;
        data_left_ -= count;
        if (data_left_ == 0 && !chunked_) {
          in_head_ = true;
          ++ended;
        }
        continue;
      }
      const char byte = bytes[i++];
      line_.push_back(byte);
      if (byte != '\n') continue;
      ended += TakeLine() ? 1 : 0;
      line_.clear();
    }
    return ended;
  }

 private:
  /// Whether the line ended an answer.
  bool TakeLine() {
    if (in_head_) {
      if (strncasecmp(line_.c_str(), "transfer-encoding:", 18) == 0) chunked_ = true;
      if (strncasecmp(line_.c_str(), "content-length:", 15) == 0) {
        chunked_ = false;
        length_ = std::strtoull(line_.c_str() + 15, nullptr, 10);
      }
      if (line_ == "\r\n") {
        in_head_ = false;
        if (!chunked_) data_left_ = length_;
      }
      return false;
    }
    if (last_chunk_) {
      last_chunk_ = false;
      in_head_ = true;
      return true;
    }
    if (line_ == "\r\n") return false;  // behind a chunk's data
    data_left_ = std::strtoull(line_.c_str(), nullptr, 16);
    last_chunk_ = data_left_ == 0;
    return false;
  }

  std::string line_;
  bool in_head_ = true;
  bool chunked_ = false;
  bool last_chunk_ = false;
  size_t length_ = 0;
  size_t data_left_ = 0;
};

struct Stream {
  int fd = -1;
  int64_t sent = 0;  // when the request was
  bool first_seen = false;
  Deframer deframer;
  std::string tail;  // the end of the body so far, where an event may be cut
};

class Load {
 public:
  Load(int port, int streams, double seconds, const std::string& query)
      : port_(port),
        streams_(static_cast<size_t>(streams)),
        epoll_(epoll_create1(0)),
        unary_(query.find("unary=") != std::string::npos) {
    const std::string body =
        R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";
    request_ = "POST /v1/chat/completions?" + query +
               " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body;
    begin_ = NowNs();
    end_ = begin_ + static_cast<int64_t>(seconds * 1e9);
    counted_from_ = begin_ + static_cast<int64_t>(seconds * 1e8);
  }

  void Run() {
    for (Stream& stream : streams_) Connect(stream);
    std::array<epoll_event, 512> events;
    while (NowNs() < end_) {
      const int count = epoll_wait(epoll_, events.data(), events.size(), 20);
      for (int i = 0; i < count; ++i) Read(streams_[events[i].data.u32]);
    }
    const double seconds = static_cast<double>(end_ - counted_from_) / 1e9;
    std::printf(
        "{\"events\":%lld,\"seconds\":%.3f,\"events_per_second\":%.0f,\"transit_us\":{\"p50\":%.1f,"
        "\"p99\":%.1f},"
        "\"first_us\":{\"p50\":%.1f,\"p99\":%.1f},\"answers\":%lld,\"errors\":%lld}\n",
        static_cast<long long>(transit_.total()), seconds,
        static_cast<double>(transit_.total()) / seconds, transit_.QuantileUs(0.5),
        transit_.QuantileUs(0.99), first_.QuantileUs(0.5), first_.QuantileUs(0.99),
        static_cast<long long>(answers_), static_cast<long long>(errors_));
  }

 private:
  void Connect(Stream& stream) {
    stream = {};
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
    if (unary_) {
      stream.tail.clear();
      if (ended > 0) first_.Add(now - stream.sent);
    } else {
      TakeEvents(stream, now);
    }
    if (ended == 0) return;
    if (now >= counted_from_) ++answers_;
    Send(stream);
  }

  void TakeEvents(Stream& stream, int64_t now) {
    size_t at = 0;
    for (size_t end; (end = stream.tail.find("\n\n", at)) != std::string::npos; at = end + 2) {
      const char* event = stream.tail.data() + at;
      if (std::strncmp(event, "data: {\"created\":", 17) == 0) {
        if (!stream.first_seen) first_.Add(now - stream.sent);
        stream.first_seen = true;
        if (now >= counted_from_) transit_.Add(now - std::strtoll(event + 17, nullptr, 10));
      } else if (std::strncmp(event, "data: [DONE]", 12) != 0) {
        ++errors_;
      }
    }
    stream.tail.erase(0, at);
  }

  const int port_;
  std::vector<Stream> streams_;
  const int epoll_;
  const bool unary_;
  std::string request_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  int64_t counted_from_ = 0;
  Histogram transit_;
  Histogram first_;
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
