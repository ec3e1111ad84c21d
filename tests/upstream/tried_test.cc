#include "lib/upstream/tried.h"

#include "gtest/gtest.h"

namespace sluice::upstream {
namespace {

/// What `tried` allows of the endpoints a, b and the keys 1, 2.
std::string Allowed(const Tried& tried) {
  std::string allowed;
  for (const std::string endpoint : {"a", "b"}) {
    for (const std::string key : {"1", "2"}) {
      if (tried.Allows(endpoint, key)) allowed += endpoint + key + " ";
    }
  }
  return allowed;
}

TEST(TriedTest, AllowsAllAtFirst) { EXPECT_EQ(Allowed(Tried()), "a1 a2 b1 b2 "); }

TEST(TriedTest, RulesOutWhatIsSpent) {
  const std::pair<Spent, std::string> cases[] = {
      {Spent::kPair, "a2 b1 b2 "}, {Spent::kEndpoint, "b1 b2 "}, {Spent::kKey, "a2 b2 "}};
  for (const auto& [spent, allowed] : cases) {
    Tried tried;
    tried.Add("a", "1", spent);
    EXPECT_EQ(Allowed(tried), allowed);
  }
}

TEST(TriedTest, AddsUp) {
  Tried tried;
  tried.Add("a", "1", Spent::kPair);
  tried.Add("b", "2", Spent::kEndpoint);
  EXPECT_EQ(Allowed(tried), "a2 ");
}

}  // namespace
}  // namespace sluice::upstream
