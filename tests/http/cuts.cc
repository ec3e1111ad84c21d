#include "tests/http/cuts.h"

#include <cstddef>
#include <random>

namespace sluice::http {

Pieces Whole(absl::string_view bytes) { return {std::string(bytes)}; }

Pieces ByteByByte(absl::string_view bytes) {
  Pieces pieces;
  for (const char byte : bytes) pieces.emplace_back(1, byte);
  return pieces;
}

std::vector<Pieces> InTwo(absl::string_view bytes) {
  std::vector<Pieces> ways;
  for (size_t at = 1; at < bytes.size(); ++at) {
    ways.push_back({std::string(bytes.substr(0, at)), std::string(bytes.substr(at))});
  }
  return ways;
}

std::vector<Pieces> AtRandom(absl::string_view bytes, int ways) {
  std::mt19937 random(20240607);
  std::vector<Pieces> result;
  for (int way = 0; way < ways; ++way) {
    std::uniform_int_distribution<size_t> size(1, size_t{2} << (way % 10));
    Pieces pieces;
    for (absl::string_view rest = bytes; !rest.empty();) {
      pieces.emplace_back(rest.substr(0, size(random)));
      rest.remove_prefix(pieces.back().size());
    }
    result.push_back(pieces);
  }
  return result;
}

std::vector<Pieces> SomeCuts(absl::string_view bytes) {
  std::vector<Pieces> ways = AtRandom(bytes, 20);
  ways.push_back(ByteByByte(bytes));
  return ways;
}

}  // namespace sluice::http
