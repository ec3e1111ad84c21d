#ifndef SLUICE_TESTS_FUZZ_PIECES_H_
#define SLUICE_TESTS_FUZZ_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

/// Unlike assert, in every build; the fuzzer keeps the input.
#define FUZZ_CHECK(condition)  \
  do {                         \
    if (!(condition)) abort(); \
  } while (false)

namespace sluice::fuzz {

/// A fuzzer's input: one byte that decides about cuts and flags, then the bytes for the code under
/// test.
class CutInput {
 public:
  CutInput(const uint8_t* data, size_t size)
      : choice_(size > 0 ? data[0] : 0),
        bytes_(reinterpret_cast<const char*>(data) + (size > 0 ? 1 : 0), size > 0 ? size - 1 : 0) {}

  absl::string_view bytes() const { return bytes_; }
  bool flag(int index) const { return (choice_ >> index & 1) != 0; }

  std::vector<std::string> pieces() const {
    std::minstd_rand random(choice_);
    std::uniform_int_distribution<size_t> length(1, size_t{2} << (choice_ >> 2 & 7));
    std::vector<std::string> result;
    for (absl::string_view rest = bytes_; !rest.empty();) {
      result.emplace_back(rest.substr(0, length(random)));
      rest.remove_prefix(result.back().size());
    }
    return result;
  }

 private:
  uint8_t choice_;
  absl::string_view bytes_;
};

}  // namespace sluice::fuzz

#endif  // SLUICE_TESTS_FUZZ_PIECES_H_
