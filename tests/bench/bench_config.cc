// What changing the configuration costs the requests. Changes the one endpoint of a gateway so many
// times a second, and asks through the gateway all the while who serves: the n-th change gives the
// endpoint the prefix /vN, and bench_engine answers with the path it was asked for.
//
//   bench_config PORT CONTROL_PORT ENGINE_PORT UPDATES_PER_SECOND SECONDS
//
// Prints one JSON object. A change is visible with the first answer that comes from it or from a
// later one; `visible_ms` is from before the call of the change to that answer, the answer's own
// time included. An answer that is no 200, or none, is failed.

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"

#include "sluice/control/v1/control_service.grpc.pb.h"
#include "tests/bench/deframer.h"

namespace {

namespace pb = ::sluice::control::v1;
using std::chrono::steady_clock;

constexpr int kProbes = 4;
constexpr auto kBetweenProbes = std::chrono::milliseconds(1);

/// Asks over one connection, again and again.
class Probe {
 public:
  struct Seen {
    steady_clock::time_point at;
    int version;  // of the configuration that served; 0: the first one
  };

  explicit Probe(int port) : port_(port) {}
  ~Probe() { Close(); }

  void Run(const std::atomic<bool>& done) {
    while (!done) {
      if (const int version = Ask(); version >= 0) {
        seen_.push_back({steady_clock::now(), version});
      } else {
        ++failed_;
        Close();
      }
      std::this_thread::sleep_for(kBetweenProbes);
    }
  }

  const std::vector<Seen>& seen() const { return seen_; }
  int failed() const { return failed_; }

 private:
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  bool Connect() {
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const timeval patience{5, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }

  /// The version that served; -1 when the request failed.
  int Ask() {
    if (fd_ < 0 && !Connect()) return -1;
    const std::string body = R"({"model":"m"})";
    const std::string request = absl::StrCat(
        "POST /v1/chat/completions?unary=200 HTTP/1.1\r\nHost: bench\r\n"
        "Content-Type: application/json\r\nContent-Length: ",
        body.size(), "\r\n\r\n", body);
    if (send(fd_, request.data(), request.size(), MSG_NOSIGNAL) < 0) return -1;
    sluice::bench::Deframer deframer;
    std::string answer;
    char buffer[4096];
    ssize_t got;
    do {
      got = recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) return -1;
    } while (deframer.Feed(buffer, static_cast<size_t>(got), &answer) == 0);
    constexpr char kPrefix[] = "\"id\":\"/v";
    const size_t path = answer.find(kPrefix);
    if (deframer.refused() || path == std::string::npos) return -1;
    // Without a prefix of ours the path is /v1/chat/..., with one /vN/v1/chat/...
    const char* version = answer.c_str() + path + sizeof kPrefix - 1;
    return answer.find("/v1/chat", path + sizeof kPrefix) == std::string::npos ? 0
                                                                               : std::atoi(version);
  }

  const int port_;
  int fd_ = -1;
  std::vector<Seen> seen_;
  int failed_ = 0;
};

/// Changes the endpoint at a steady pace; when it falls behind, as fast as it can.
class Updater {
 public:
  Updater(int control_port, int engine_port)
      : stub_(pb::ControlService::NewStub(grpc::CreateChannel(
            absl::StrCat("127.0.0.1:", control_port), grpc::InsecureChannelCredentials()))),
        engine_(absl::StrCat("http://127.0.0.1:", engine_port)) {}

  /// The times at which the changes were begun, the first one's being that of version 1.
  std::vector<steady_clock::time_point> Run(int per_second, std::chrono::seconds length) {
    std::vector<steady_clock::time_point> begun;
    const steady_clock::time_point start = steady_clock::now();
    for (steady_clock::time_point due = start; due < start + length && per_second > 0;
         due += std::chrono::nanoseconds(1'000'000'000 / per_second)) {
      std::this_thread::sleep_until(due);
      if (steady_clock::now() > start + length) break;
      begun.push_back(steady_clock::now());
      Update(static_cast<int>(begun.size()));
    }
    std::this_thread::sleep_until(start + length);
    return begun;
  }

 private:
  void Update(int version) {
    grpc::ClientContext context;
    pb::UpdateEndpointRequest request;
    request.set_pool("bench");
    request.mutable_endpoint()->set_id("engine");
    request.mutable_endpoint()->set_uri(absl::StrCat(engine_, "/v", version));
    pb::Config ignored;
    if (const grpc::Status status = stub_->UpdateEndpoint(&context, request, &ignored);
        !status.ok()) {
      std::fprintf(stderr, "bench_config: %s\n", status.error_message().c_str());
      std::exit(1);
    }
  }

  const std::unique_ptr<pb::ControlService::Stub> stub_;
  const std::string engine_;
};

/// How long each change took to be seen; those that nothing was seen of are left out.
std::vector<double> VisibleMs(const std::vector<steady_clock::time_point>& begun,
                              std::vector<Probe::Seen> seen) {
  std::sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  std::vector<double> waits;
  for (const auto& [at, version] : seen) {
    for (; static_cast<int>(waits.size()) < version;) {
      waits.push_back(std::chrono::duration<double, std::milli>(at - begun[waits.size()]).count());
    }
  }
  std::sort(waits.begin(), waits.end());
  return waits;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr,
                 "usage: bench_config PORT CONTROL_PORT ENGINE_PORT UPDATES_PER_SECOND SECONDS\n");
    return 2;
  }
  std::vector<std::unique_ptr<Probe>> probes;
  std::vector<std::thread> threads;
  std::atomic<bool> done = false;
  for (int i = 0; i < kProbes; ++i) {
    probes.push_back(std::make_unique<Probe>(std::atoi(argv[1])));
    threads.emplace_back(&Probe::Run, probes.back().get(), std::cref(done));
  }
  const int seconds = std::atoi(argv[5]);
  const std::vector<steady_clock::time_point> begun =
      Updater(std::atoi(argv[2]), std::atoi(argv[3]))
          .Run(std::atoi(argv[4]), std::chrono::seconds(seconds));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for the last one to be seen
  done = true;
  for (std::thread& thread : threads) thread.join();

  std::vector<Probe::Seen> seen;
  int failed = 0;
  for (const auto& probe : probes) {
    seen.insert(seen.end(), probe->seen().begin(), probe->seen().end());
    failed += probe->failed();
  }
  const std::vector<double> waits = VisibleMs(begun, seen);
  std::printf(
      "{\"answers\":%zu,\"failed\":%d,\"updates_per_second\":%.1f,\"unseen\":%zu,\"visible_ms\":",
      seen.size(), failed, static_cast<double>(begun.size()) / seconds,
      begun.size() - waits.size());
  if (waits.empty()) {
    std::puts("null}");
  } else {
    std::printf("{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f}}\n", waits[waits.size() / 2],
                waits[waits.size() * 99 / 100], waits.back());
  }
}
