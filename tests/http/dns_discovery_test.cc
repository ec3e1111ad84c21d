#include "lib/http/dns_discovery.h"

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/base/log.h"
#include "tests/support/patience.h"

namespace sluice::http {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

using Addresses = std::vector<std::string>;

/// A name server on 127.0.0.1 (RFC 1035) that knows A and AAAA.
class NameServer {
 public:
  NameServer() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~NameServer() {
    stopping_ = true;
    thread_.join();
    ::close(socket_);
  }

  std::string text() const { return absl::StrCat("127.0.0.1:", port_); }

  /// No addresses: there is no such name. `time_to_live`: in seconds, at most 255.
  void Set(const std::string& name, const Addresses& addresses, int time_to_live = 0) {
    MutexLock lock(&mutex_);
    names_[name].addresses = addresses;
    names_[name].time_to_live = static_cast<char>(time_to_live);
  }
  int questions(const std::string& name) {
    MutexLock lock(&mutex_);
    return names_[name].questions;
  }

 private:
  static constexpr size_t kHeaderBytes = 12;

  struct Name {
    Addresses addresses;
    char time_to_live = 0;
    int questions = 0;
  };

  void Serve() {
    while (!stopping_) {
      pollfd waiting = {socket_, POLLIN, 0};
      if (::poll(&waiting, 1, 5) != 1) continue;
      std::array<char, 512> query;
      sockaddr_in peer{};
      socklen_t size = sizeof peer;
      const ssize_t got = ::recvfrom(socket_, query.data(), query.size(), 0,
                                     reinterpret_cast<sockaddr*>(&peer), &size);
      if (got <= static_cast<ssize_t>(kHeaderBytes)) continue;
      const std::string answer = Answer(std::string(query.data(), static_cast<size_t>(got)));
      ::sendto(socket_, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&peer), size);
    }
  }

  std::string Answer(const std::string& query) {
    std::string name;
    size_t at = kHeaderBytes;
    while (query[at] != 0) {
      const size_t label = static_cast<size_t>(query[at]);
      absl::StrAppend(&name, name.empty() ? "" : ".", query.substr(at + 1, label));
      at += label + 1;
    }
    const int type = query[at + 2];  // 1: A, 28: AAAA
    const size_t question_end = at + 5;
    MutexLock lock(&mutex_);
    Name& known = names_[name];
    ++known.questions;
    std::string records;
    int count = 0;
    for (const std::string& address : known.addresses) {
      std::array<char, 16> bytes;
      const bool ipv6 = address.find(':') != std::string::npos;
      if (ipv6 != (type == 28)) continue;
      ::inet_pton(ipv6 ? AF_INET6 : AF_INET, address.c_str(), bytes.data());
      const size_t length = ipv6 ? 16 : 4;
      // The name of the question, the type, the class IN, the time to live, the length.
      records += std::string("\xc0\x0c\0", 3) + static_cast<char>(type);
      records +=
          std::string("\0\1\0\0\0", 5) + known.time_to_live + '\0' + static_cast<char>(length);
      records.append(bytes.data(), length);
      ++count;
    }
    constexpr char kNoSuchName = 3;
    std::string head = query.substr(0, 2) + '\x81';
    head += static_cast<char>('\x80' | (known.addresses.empty() ? kNoSuchName : 0));
    head += std::string("\0\1\0", 3) + static_cast<char>(count) + std::string(4, '\0');
    return head + query.substr(kHeaderBytes, question_end - kHeaderBytes) + records;
  }

  const int socket_;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  std::map<std::string, Name> names_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

class DnsDiscoveryTest : public ::testing::Test {
 protected:
  DnsDiscoveryTest() {
    SetLogSink([](absl::string_view) {});
  }
  ~DnsDiscoveryTest() override { SetLogSink(nullptr); }

  DnsDiscovery::Listener Listener() {
    return [this](const std::string& name, const Addresses& addresses) {
      MutexLock lock(&mutex_);
      heard_[name].push_back(addresses);
      changed_.NotifyAll();
    };
  }
  /// What was heard of `name`, once it was heard `times` times.
  std::vector<Addresses> Heard(const std::string& name, size_t times = 1) {
    MutexLock lock(&mutex_);
    changed_.WaitFor(&mutex_, testing::kPatience, [&] { return heard_[name].size() >= times; });
    return heard_[name];
  }

  Mutex mutex_;
  CondVar changed_;
  std::map<std::string, std::vector<Addresses>> heard_;
  NameServer server_;
};

TEST_F(DnsDiscoveryTest, FindsLocalhostAndAddressesWithoutAServer) {
  DnsDiscovery discovery({.servers = server_.text()}, Listener());
  discovery.SetNames({"localhost", "127.0.0.7", "::7"});
  EXPECT_THAT(Heard("localhost"), ElementsAre(Contains("127.0.0.1")));
  EXPECT_THAT(Heard("127.0.0.7"), ElementsAre(ElementsAre("127.0.0.7")));
  EXPECT_THAT(Heard("::7"), ElementsAre(ElementsAre("::7")));
  EXPECT_EQ(server_.questions("localhost"), 0);
  EXPECT_EQ(server_.questions("127.0.0.7"), 0);
}

TEST_F(DnsDiscoveryTest, FindsAllAddressesOfANameAndLooksAgain) {
  server_.Set("engine.test", {"10.0.0.2", "fd00::1", "10.0.0.1"});
  DnsDiscovery discovery({.servers = server_.text()}, Listener());
  discovery.SetNames({"engine.test"});
  EXPECT_THAT(Heard("engine.test"), ElementsAre(ElementsAre("10.0.0.1", "10.0.0.2", "fd00::1")));
  server_.Set("engine.test", {"10.0.0.3"});
  EXPECT_THAT(Heard("engine.test", 2).back(), ElementsAre("10.0.0.3"));
}

TEST_F(DnsDiscoveryTest, AsksNoSoonerThanTheTimeToLiveSays) {
  server_.Set("engine.test", {"10.0.0.1"}, 255);
  server_.Set("other.test", {"10.0.0.2"});
  DnsDiscovery discovery({.servers = server_.text()}, Listener());
  discovery.SetNames({"engine.test", "other.test"});
  EXPECT_EQ(Heard("engine.test").size(), 1u);
  EXPECT_EQ(Heard("other.test").size(), 1u);
  server_.Set("other.test", {"10.0.0.3"});
  EXPECT_EQ(Heard("other.test", 2).size(), 2u);
  EXPECT_EQ(server_.questions("engine.test"), 2) << "one for A, one for AAAA";
}

TEST_F(DnsDiscoveryTest, FindsANameThatAppearsLater) {
  DnsDiscovery discovery({.servers = server_.text()}, Listener());
  server_.Set("other.test", {"10.0.0.9"});
  discovery.SetNames({"engine.test", "other.test"});
  EXPECT_THAT(Heard("other.test"), ElementsAre(ElementsAre("10.0.0.9")));
  server_.Set("engine.test", {"10.0.0.1"});
  EXPECT_THAT(Heard("engine.test"), ElementsAre(ElementsAre("10.0.0.1")));
}

TEST_F(DnsDiscoveryTest, HearsANameThatIsSetAnewOnceMore) {
  server_.Set("engine.test", {"10.0.0.1"});
  DnsDiscovery discovery({.servers = server_.text()}, Listener());
  discovery.SetNames({"engine.test"});
  Heard("engine.test");
  discovery.SetNames({});
  discovery.SetNames({"engine.test"});
  EXPECT_EQ(Heard("engine.test", 2).size(), 2u);
}

TEST_F(DnsDiscoveryTest, EndsWhileALookUpIsUnderWay) {
  // Takes the questions, and gives no answer.
  const int silent = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  ::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size);
  {
    DnsDiscovery discovery({.servers = absl::StrCat("127.0.0.1:", ntohs(address.sin_port))},
                           Listener());
    discovery.SetNames({"engine.test"});
    char question[512];
    EXPECT_GT(::recv(silent, question, sizeof question, 0), 0);
  }
  EXPECT_TRUE(heard_.empty());
  ::close(silent);
}

}  // namespace
}  // namespace sluice::http
