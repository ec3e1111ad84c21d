#ifndef SLUICE_TESTS_ADMIN_SLUICECTL_TEST_H_
#define SLUICE_TESTS_ADMIN_SLUICECTL_TEST_H_

#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "admin/commands.h"
#include "tests/admin/fake_control_server.h"

namespace sluice::admin {

class FixedClock final : public Clock {
 public:
  Instant Now() const override { return Instant(); }
  absl::Time WallNow() const override { return absl::FromUnixSeconds(1767323045); }
};

/// sluicectl run in this process, against a server that answers as the test says.
class SluicectlTest : public ::testing::Test {
 protected:
  ExitCode Run(std::vector<std::string> args) {
    args.insert(args.end(), {"--server", server_.address()});
    World world{.environment = [this](absl::string_view name) -> std::optional<std::string> {
                  const auto found = variables_.find(std::string(name));
                  if (found == variables_.end()) return std::nullopt;
                  return found->second;
                },
                .in = in_,
                .out = out_,
                .err = err_,
                .clock = clock_,
                .zone = absl::UTCTimeZone(),
                .stop = stop_.get_token(),
                .edit = edit_,
                .open_screen = open_screen_};
    return RunSluicectl(args, world);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  std::map<std::string, std::string> variables_;  // of the environment
  std::function<bool(const std::string& editor, const std::string& path)> edit_;
  std::function<std::unique_ptr<TopScreen>()> open_screen_;
  FakeControlServer server_;
  FixedClock clock_;
  std::stop_source stop_;
  std::istringstream in_;
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace sluice::admin

#endif  // SLUICE_TESTS_ADMIN_SLUICECTL_TEST_H_
