#include "lib/base/secret.h"

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(SecretTest, EqualsItsBytesOnly) {
  const Secret secret("key-1");
  EXPECT_TRUE(secret.EqualsConstantTime("key-1"));
  EXPECT_FALSE(secret.EqualsConstantTime("key-2"));
  EXPECT_FALSE(secret.EqualsConstantTime("key-11"));
  EXPECT_FALSE(secret.EqualsConstantTime(""));
}

}  // namespace
}  // namespace sluice
