#ifndef SLUICE_TESTS_INTEGRATION_HOSTILE_DRAFT_H_
#define SLUICE_TESTS_INTEGRATION_HOSTILE_DRAFT_H_

#include <cstddef>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "tests/integration/hostile_requests.h"

namespace sluice::testing {

/// The same choices on every run.
class Random {
 public:
  size_t Below(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(engine_);
  }
  bool Coin() { return Below(2) == 0; }
  std::string OneOf(std::initializer_list<absl::string_view> choices) {
    return std::string(choices.begin()[Below(choices.size())]);
  }
  std::string InAnyCase(absl::string_view text) {
    switch (Below(4)) {
      case 0:
        return absl::AsciiStrToLower(text);
      case 1:
        return absl::AsciiStrToUpper(text);
      case 2:
        return std::string(text);
    }
    std::string mixed(text);
    for (char& c : mixed) c = Coin() ? absl::ascii_toupper(c) : absl::ascii_tolower(c);
    return mixed;
  }

 private:
  std::mt19937 engine_{20261201};
};

/// A header line as it is sent and, if the upstream is to get it, as it leaves.
struct Line {
  std::string sent;
  std::string passed;
};

/// A request in parts that a family may spoil.
struct Draft {
  explicit Draft(Random& choices) : random(choices) {}

  Random& random;
  std::string method;
  std::string target = "/v1/files?x=%2F%20+;a&x=1";
  std::string passed_target = target;
  std::string version = "HTTP/1.1";
  std::string line_end = "\r\n";  // of the request line
  std::vector<Line> lines;
  std::string body;       // as the upstream gets it
  std::string sent_body;  // with its framing

  void InsertSent(std::string line, std::string passed = "") {
    const auto at = static_cast<std::ptrdiff_t>(random.Below(lines.size() + 1));
    lines.insert(lines.begin() + at, Line{std::move(line), std::move(passed)});
  }
  /// A header line that stays behind.
  void Insert(absl::string_view name, absl::string_view value) {
    InsertSent(absl::StrCat(random.InAnyCase(name), ": ", value, "\r\n"));
  }
  /// One that passes, with the blanks around its value off.
  void InsertPassed(absl::string_view name, absl::string_view value) {
    const std::string cased = random.InAnyCase(name);
    const std::string blank = random.OneOf({"", " ", "\t", "   "});
    InsertSent(absl::StrCat(cased, ":", blank, value, random.OneOf({"", " ", "\t "}), "\r\n"),
               absl::StrCat(cased, ": ", value, "\r\n"));
  }

  void Body(absl::string_view text) { body = sent_body = std::string(text); }
  void WithLength(absl::string_view text = kSmuggled) {
    Body(text);
    Insert("Content-Length", absl::StrCat(text.size()));
  }
  std::string Chunked(absl::string_view text) {
    std::string coded;
    while (!text.empty()) {
      const absl::string_view piece = text.substr(0, 1 + random.Below(text.size()));
      text.remove_prefix(piece.size());
      const std::string size =
          absl::StrCat(random.OneOf({"", "0", "000"}), absl::Hex(piece.size()));
      absl::StrAppend(&coded, random.InAnyCase(size),
                      random.OneOf({"", "", ";a=b", ";a=\"\xc3\xa9\"", ";", ";;= "}), "\r\n", piece,
                      "\r\n");
    }
    return coded;
  }
  void WithChunks(absl::string_view text = kSmuggled) {
    body = std::string(text);
    sent_body = absl::StrCat(Chunked(text), random.OneOf({"0", "00000"}), "\r\n\r\n");
    Insert("Transfer-Encoding", random.InAnyCase("chunked"));
  }
  /// A chunked body that ends as `end` says: behind a good chunk or at once.
  void WithBadChunks(absl::string_view end) {
    Insert("Transfer-Encoding", "chunked");
    sent_body = absl::StrCat(random.Coin() ? Chunked("abc") : "", end);
  }
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_HOSTILE_DRAFT_H_
