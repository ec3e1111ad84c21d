#ifndef SLUICE_TESTS_SUPPORT_RECORDING_SINK_H_
#define SLUICE_TESTS_SUPPORT_RECORDING_SINK_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "lib/exchange/message.h"
#include "lib/exchange/seams.h"
#include "tests/support/recording_observer.h"

namespace sluice::testing {

/// A client that keeps all it gets, and can leave or stop reading.
class RecordingSink final : public ClientSink {
 public:
  explicit RecordingSink(Transcript& transcript) : transcript_(transcript) {}

  /// The `n`-th write (from 1) has this result; none of its bytes arrive.
  void FailWrite(int n, Result result) {
    failing_write_ = n;
    failure_ = result;
  }
  void FailFlush(Result result) { flush_result_ = result; }
  /// Runs inside each write, before the bytes count as written: takes time, cancels, looks around.
  void DuringWrite(std::function<void(Duration stall_limit)> hook) { hook_ = std::move(hook); }

  /// Runs when the answer lets others go first.
  void DuringLetOthersRun(std::function<void()> hook) { others_ = std::move(hook); }

  void LetOthersRun() override {
    if (others_) others_();
  }

  void LetMoreCome() override { ++let_more_come_; }
  int let_more_come() const { return let_more_come_; }

  void WriteHead(const ResponseHead& head) override {
    EXPECT_FALSE(has_head_) << "a second head";
    has_head_ = true;
    head_ = head;
    transcript_.Add("head ", head.status);
  }

  Result Flush(Duration) override {
    EXPECT_TRUE(has_head_) << "flushed before the head";
    transcript_.Add("flush");
    return flush_result_;
  }

  Result Write(absl::string_view bytes, Duration stall_limit) override {
    EXPECT_TRUE(has_head_) << "bytes before the head";
    EXPECT_FALSE(bytes.empty());
    if (hook_) hook_(stall_limit);
    if (static_cast<int>(writes_.size()) + 1 == failing_write_) {
      transcript_.Add("lost");
      return failure_;
    }
    writes_.emplace_back(bytes);
    body_.append(bytes.data(), bytes.size());
    transcript_.Add("write ", bytes.size());
    return Result::kOk;
  }

  bool has_head() const { return has_head_; }
  const ResponseHead& head() const { return head_; }
  const std::vector<std::string>& writes() const { return writes_; }
  const std::string& body() const { return body_; }

 private:
  Transcript& transcript_;
  int failing_write_ = 0;
  Result failure_ = Result::kGone;
  Result flush_result_ = Result::kOk;
  std::function<void(Duration)> hook_;
  std::function<void()> others_;
  int let_more_come_ = 0;
  bool has_head_ = false;
  ResponseHead head_;
  std::vector<std::string> writes_;
  std::string body_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_RECORDING_SINK_H_
