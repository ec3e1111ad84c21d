#ifndef SLUICE_TESTS_HTTP_CUTS_H_
#define SLUICE_TESTS_HTTP_CUTS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sluice::http {

/// The same bytes as one or several reads would bring them.
using Pieces = std::vector<std::string>;

Pieces Whole(absl::string_view bytes);
Pieces ByteByByte(absl::string_view bytes);
/// Every way to cut in two.
std::vector<Pieces> InTwo(absl::string_view bytes);
/// `ways` random ways to cut, each with pieces of another typical size; the same on every run.
std::vector<Pieces> AtRandom(absl::string_view bytes, int ways);

/// Byte by byte and some random ways.
std::vector<Pieces> SomeCuts(absl::string_view bytes);

}  // namespace sluice::http

#endif  // SLUICE_TESTS_HTTP_CUTS_H_
