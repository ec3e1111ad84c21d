// Clients that leave silent streams. Opens STREAMS of them through a proxy, waits until each has
// its one event, and closes all; prints for each its number and the time it left, in ns.
// bench_engine prints when it heard of it.
//
//   bench_leave PORT STREAMS

#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"

namespace {

int Open(int port, int number) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string body = R"({"model":"m","stream":true})";
  const std::string request =
      absl::StrCat("POST /v1/chat/completions?silent=", number,
                   " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
                   "Content-Length: ",
                   body.size(), "\r\n\r\n", body);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    std::perror("bench_leave");
    std::exit(1);
  }
  return fd;
}

/// Reads until the event is there.
void AwaitEvent(int fd) {
  std::string seen;
  char buffer[4096];
  while (seen.find("\n\n") == std::string::npos) {
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) std::exit(1);
    seen.append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: bench_leave PORT STREAMS\n");
    return 2;
  }
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  const int streams = std::atoi(argv[2]);
  std::vector<int> fds;
  for (int i = 1; i <= streams; ++i) fds.push_back(Open(std::atoi(argv[1]), i));
  for (const int fd : fds) AwaitEvent(fd);
  std::vector<long long> left;
  for (const int fd : fds) {
    left.push_back(std::chrono::steady_clock::now().time_since_epoch().count());
    close(fd);
  }
  for (int i = 0; i < streams; ++i) {
    std::printf("%d %lld\n", i + 1, left[static_cast<size_t>(i)]);
  }
}
