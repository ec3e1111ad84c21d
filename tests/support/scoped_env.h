#ifndef SLUICE_TESTS_SUPPORT_SCOPED_ENV_H_
#define SLUICE_TESTS_SUPPORT_SCOPED_ENV_H_

#include <cstdlib>
#include <string>
#include <utility>

namespace sluice::testing {

/// Sets an environment variable for the life of the object. Not while other threads run.
class ScopedEnv {
 public:
  ScopedEnv(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), /*overwrite=*/1);
  }
  ~ScopedEnv() { unsetenv(name_.c_str()); }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  const std::string name_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_SCOPED_ENV_H_
