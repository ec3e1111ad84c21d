#include "lib/exchange/observer.h"

#include <string>

#include "gtest/gtest.h"

namespace sluice {
namespace {

/// Appends its name and the call to a transcript shared by several.
class Scribe final : public Observer {
 public:
  Scribe(std::string name, std::string& transcript)
      : name_(std::move(name)), transcript_(transcript) {}
  void OnStarted(const Exchange&) override { Write("started"); }
  void OnAttempt(const Exchange&, const Attempt&) override { Write("attempt"); }
  void OnAttemptFailed(const Exchange&, const Attempt&) override { Write("failed"); }
  void OnFirstByte(const Exchange&) override { Write("first"); }
  void OnFrame(const Exchange&, const FrameInfo&) override { Write("frame"); }
  void OnUsage(const Exchange&, const Usage&) override { Write("usage"); }
  void OnDone(const Exchange&) override { Write("done"); }
  void OnFinished(const Exchange&) override { Write("finished"); }

 private:
  void Write(const char* call) { transcript_ += name_ + call + " "; }
  const std::string name_;
  std::string& transcript_;
};

TEST(ObserversTest, HandsEachCallToAllInTheOrderTheyWereAdded) {
  std::string transcript;
  Scribe a("a.", transcript);
  Scribe b("b.", transcript);
  Observers all;
  all.Add(&a);
  all.Add(&b);
  const Exchange x;
  all.OnStarted(x);
  all.OnAttempt(x, {});
  all.OnAttemptFailed(x, {});
  all.OnFirstByte(x);
  all.OnFrame(x, {});
  all.OnUsage(x, {});
  all.OnDone(x);
  all.OnFinished(x);
  EXPECT_EQ(
      transcript,
      "a.started b.started a.attempt b.attempt a.failed b.failed a.first b.first a.frame b.frame "
      "a.usage b.usage a.done b.done a.finished b.finished ");
}

}  // namespace
}  // namespace sluice
