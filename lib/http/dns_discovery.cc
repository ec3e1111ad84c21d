#include "lib/http/dns_discovery.h"

#include <algorithm>
#include <ares.h>
#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "absl/status/status.h"

#include "lib/http/resolver.h"

namespace sluice::http {
namespace {

using std::chrono::milliseconds;

/// Of a server, the first time; it is asked once more, for longer.
constexpr milliseconds kServerTimeout(1500);
constexpr int kTries = 2;

Instant Now() { return std::chrono::steady_clock::now(); }

std::string TextOf(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes =
      address->sa_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
          : &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  ::inet_ntop(address->sa_family, bytes, text.data(), text.size());
  return text.data();
}

FoundAddresses ReadAnswer(const ares_addrinfo& answer) {
  FoundAddresses found;
  int seconds = INT32_MAX;
  for (const ares_addrinfo_node* node = answer.nodes; node != nullptr; node = node->ai_next) {
    found.addresses.push_back(TextOf(node->ai_addr));
    seconds = std::min(seconds, node->ai_ttl);
  }
  for (const ares_addrinfo_cname* name = answer.cnames; name != nullptr; name = name->next) {
    seconds = std::min(seconds, name->ttl);
  }
  found.time_to_live = std::chrono::seconds(seconds);
  return found;
}

}  // namespace

/// c-ares, driven by one thread; addresses do not get so far. A channel lives for as long as a
/// look-up is under way.
class DnsDiscovery::Resolver {
 public:
  struct Answer {
    std::string name;
    absl::StatusOr<FoundAddresses> found;
  };

  explicit Resolver(const std::string& servers) : servers_(servers) {}
  ~Resolver() { Close(); }

  void Begin(const std::string& name) {
    if (IsAddress(name)) {
      answers_.push_back({name, FoundAddresses{{name}, DiscoverySchedule::kLongestLife}});
      return;
    }
    if (channel_ == nullptr) {
      const absl::Status opened = Open();
      if (!opened.ok()) {
        answers_.push_back({name, opened});
        return;
      }
    }
    ++under_way_;
    ares_addrinfo_hints hints{};
    hints.ai_flags = ARES_AI_NOSORT;
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, &OnAnswer, new Lookup{this, name});
  }

  /// Until something has come, `wake` is readable, or `deadline`.
  void Wait(int wake, Instant deadline) {
    std::array<pollfd, ARES_GETSOCK_MAXNUM + 1> watched;
    watched[0] = {wake, POLLIN, 0};
    const size_t count = 1 + (channel_ == nullptr ? 0 : Watch(&watched[1]));
    if (::poll(watched.data(), count, TimeoutMs(deadline)) > 0 && watched[0].revents != 0) {
      eventfd_t ignored;
      ::eventfd_read(wake, &ignored);
    }
    if (channel_ == nullptr) return;
    for (size_t i = 1; i < count; ++i) {
      const int events = watched[i].revents;
      ares_process_fd(channel_,
                      (events & (POLLIN | POLLERR | POLLHUP)) ? watched[i].fd : ARES_SOCKET_BAD,
                      (events & POLLOUT) ? watched[i].fd : ARES_SOCKET_BAD);
    }
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // timeouts
    if (under_way_ == 0) Close();
  }

  std::vector<Answer> TakeAnswers() { return std::exchange(answers_, {}); }

 private:
  struct Lookup {
    Resolver* resolver;
    std::string name;
  };

  absl::Status Open() {
    ares_options options{};
    options.timeout = static_cast<int>(kServerTimeout.count());
    options.tries = kTries;
    int result = ares_init_options(&channel_, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES);
    if (result == ARES_SUCCESS && !servers_.empty()) {
      result = ares_set_servers_ports_csv(channel_, servers_.c_str());
      if (result != ARES_SUCCESS) Close();
    }
    if (result == ARES_SUCCESS) return absl::OkStatus();
    channel_ = nullptr;
    return absl::UnavailableError(ares_strerror(result));
  }

  void Close() {
    if (channel_ != nullptr) ares_destroy(std::exchange(channel_, nullptr));
  }

  size_t Watch(pollfd* watched) {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets;
    const auto wanted = static_cast<unsigned>(
        ares_getsock(channel_, sockets.data(), static_cast<int>(sockets.size())));
    size_t count = 0;
    for (unsigned i = 0; i < sockets.size(); ++i) {
      int events = 0;
      if (ARES_GETSOCK_READABLE(wanted, i)) events |= POLLIN;
      if (ARES_GETSOCK_WRITABLE(wanted, i)) events |= POLLOUT;
      if (events != 0) watched[count++] = {sockets[i], static_cast<short>(events), 0};
    }
    return count;
  }

  int TimeoutMs(Instant deadline) {
    constexpr milliseconds kLongest = std::chrono::minutes(1);
    milliseconds wait = kLongest;
    if (deadline != kNever) {
      wait =
          std::clamp(std::chrono::ceil<milliseconds>(deadline - Now()), milliseconds(0), kLongest);
    }
    if (channel_ != nullptr) {
      timeval most = {static_cast<time_t>(wait.count() / 1000),
                      static_cast<suseconds_t>(wait.count() % 1000 * 1000)};
      timeval result;
      const timeval* next = ares_timeout(channel_, &most, &result);
      wait = milliseconds(next->tv_sec * 1000 + (next->tv_usec + 999) / 1000);
    }
    return static_cast<int>(wait.count());
  }

  static void OnAnswer(void* lookup_of_ours, int status, int, ares_addrinfo* answer) {
    const std::unique_ptr<Lookup> lookup(static_cast<Lookup*>(lookup_of_ours));
    Resolver& self = *lookup->resolver;
    --self.under_way_;
    absl::StatusOr<FoundAddresses> found =
        status == ARES_SUCCESS && answer->nodes != nullptr
            ? absl::StatusOr<FoundAddresses>(ReadAnswer(*answer))
            : absl::UnavailableError(ares_strerror(status == ARES_SUCCESS ? ARES_ENODATA : status));
    if (answer != nullptr) ares_freeaddrinfo(answer);
    self.answers_.push_back({std::move(lookup->name), std::move(found)});
  }

  const std::string& servers_;
  ares_channel channel_ = nullptr;
  int under_way_ = 0;
  std::vector<Answer> answers_;
};

DnsDiscovery::DnsDiscovery(Options options, Listener listener)
    : options_(std::move(options)),
      listener_(std::move(listener)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { Run(); }) {
  ::pthread_setname_np(thread_.native_handle(), "discovery");
}

DnsDiscovery::~DnsDiscovery() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
  }
  Wake();
  thread_.join();
  ::close(wake_);
}

void DnsDiscovery::SetNames(const std::set<std::string>& names) {
  {
    MutexLock lock(&mutex_);
    schedule_.SetNames(names);
  }
  Wake();
}

void DnsDiscovery::Wake() { ::eventfd_write(wake_, 1); }

void DnsDiscovery::Run() {
  Resolver resolver(options_.servers);
  while (true) {
    std::vector<std::string> due;
    Instant next = kNever;
    {
      MutexLock lock(&mutex_);
      if (stopping_) return;
      due = schedule_.TakeDue(Now());
      next = schedule_.next_due();
    }
    for (const std::string& name : due) resolver.Begin(name);
    std::vector<Resolver::Answer> answers = resolver.TakeAnswers();  // those that were at hand
    if (answers.empty()) {
      resolver.Wait(wake_, next);
      answers = resolver.TakeAnswers();
    }
    for (Resolver::Answer& answer : answers) {
      std::optional<std::vector<std::string>> changed;
      {
        MutexLock lock(&mutex_);
        if (stopping_) return;
        changed = schedule_.OnAnswer(answer.name, std::move(answer.found), Now());
      }
      if (changed.has_value()) listener_(answer.name, *changed);
    }
  }
}

}  // namespace sluice::http
