#ifndef SLUICE_TESTS_INTEGRATION_DAEMON_H_
#define SLUICE_TESTS_INTEGRATION_DAEMON_H_

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "tests/support/child_process.h"

namespace sluice::testing {

/// A file that is there for one test.
class TempFile {
 public:
  explicit TempFile(absl::string_view text)
      : path_(absl::StrCat(::testing::TempDir(), "sluice-daemon-", ::getpid(), "-", ++count_)) {
    std::ofstream(path_) << text;
  }
  ~TempFile() { std::remove(path_.c_str()); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  const std::string path_;
};

inline std::string ConfigFor(const std::string& uri) {
  return absl::StrCat(R"({"pools":[{"id":"chat","endpoints":[{"id":"a","uri":")", uri,
                      R"("}]}],"routes":[{"model":"*","pool":"chat"}]})");
}

/// sluiced on ports of the system's choice.
class Daemon {
 public:
  explicit Daemon(const std::vector<std::string>& flags = {}) : child_(Args(flags)) {
    if (!child_.WaitForErr("serving")) ADD_FAILURE() << child_.err();
  }

  uint16_t port() { return PortOf("listen"); }
  uint16_t control_port() { return PortOf("control"); }
  uint16_t admin_port() { return PortOf("admin"); }
  ChildProcess& child() { return child_; }

  /// "/proc/PID/`what`"
  std::string ProcPath(absl::string_view what) const {
    return absl::StrCat("/proc/", child_.pid(), "/", what);
  }
  /// Of its memory, what is resident now.
  int64_t RssKib() const {
    int64_t pages = 0;
    std::ifstream(ProcPath("statm")) >> pages >> pages;
    return pages * ::sysconf(_SC_PAGESIZE) / 1024;
  }

  static std::vector<std::string> Args(const std::vector<std::string>& flags) {
    std::vector<std::string> args = {SLUICE_BIN "/sluiced", "--listen=127.0.0.1:0",
                                     "--control=127.0.0.1:0", "--admin=127.0.0.1:0", "--loops=1"};
    args.insert(args.end(), flags.begin(), flags.end());
    return args;
  }

 private:
  /// From the line that says what is served.
  uint16_t PortOf(absl::string_view field) {
    const std::string name = absl::StrCat(" ", field, "=");
    EXPECT_TRUE(child_.WaitForErr(absl::StrCat(" loops="))) << child_.err();
    const size_t start = child_.err().find(name) + name.size();
    uint32_t port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(
        child_.err().substr(start, child_.err().find_first_of(" \n", start) - start), &port))
        << child_.err();
    return static_cast<uint16_t>(port);
  }

  ChildProcess child_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_DAEMON_H_
