#include "lib/base/digest.h"

#include <string>

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(DigestTest, IsXxh64WithSeedZero) {
  EXPECT_EQ(Digest().value(), 0xef46db3751d8e999u);
  Digest digest;
  digest.Update("abc");
  EXPECT_EQ(digest.value(), 0x44bc2cf5ad770999u);
}

TEST(DigestTest, DependsOnTheBytesAndNotOnTheirPieces) {
  const std::string bytes(1000, 'x');
  Digest whole;
  whole.Update(bytes);
  Digest pieces;
  for (size_t at = 0; at < bytes.size(); at += 7) pieces.Update(bytes.substr(at, 7));
  EXPECT_EQ(whole.value(), pieces.value());
  pieces.Update("y");
  EXPECT_NE(whole.value(), pieces.value());
}

}  // namespace
}  // namespace sluice
