#ifndef SLUICE_TESTS_SUPPORT_TEMP_DIR_H_
#define SLUICE_TESTS_SUPPORT_TEMP_DIR_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "gtest/gtest.h"

namespace sluice::testing {

/// A new, empty directory that is there for the life of the object.
class TempDirectory {
 public:
  TempDirectory() : path_(::testing::TempDir() + "sluice-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "cannot make " << path_;
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_TEMP_DIR_H_
