#ifndef SLUICE_TESTS_SUPPORT_RECORDING_OBSERVER_H_
#define SLUICE_TESTS_SUPPORT_RECORDING_OBSERVER_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "lib/exchange/cause.h"
#include "lib/exchange/observer.h"

namespace sluice::testing {

/// What happened, in order, in words; shared by whatever takes part.
class Transcript {
 public:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    lines_.push_back(absl::StrCat(parts...));
  }
  const std::vector<std::string>& lines() const { return lines_; }
  std::string text() const { return absl::StrJoin(lines_, " | "); }

 private:
  std::vector<std::string> lines_;
};

/// Writes each call into the transcript and keeps what it was told.
class RecordingObserver final : public Observer {
 public:
  struct Frame {
    FrameInfo info;  // its views are in `event` and `data`
    std::string event;
    std::string data;
  };

  explicit RecordingObserver(Transcript& transcript) : transcript_(transcript) {}

  void OnStarted(const Exchange&) override { transcript_.Add("started"); }
  void OnAttempt(const Exchange&, const Attempt& attempt) override {
    transcript_.Add("attempt ", attempt.index, " ", attempt.endpoint);
  }
  void OnAttemptFailed(const Exchange&, const Attempt& attempt) override {
    transcript_.Add("failed ", attempt.index, " ", InfoOf(*attempt.failure).label);
  }
  void OnFirstByte(const Exchange&) override { transcript_.Add("first_byte"); }
  void OnFrame(const Exchange&, const FrameInfo& info) override {
    transcript_.Add("frame ", info.start, "-", info.end, info.first_valid ? " first" : "");
    frames_.push_back({info, std::string(info.event), std::string(info.data)});
  }
  void OnUsage(const Exchange&, const Usage& usage) override {
    transcript_.Add("usage ", usage.prompt_tokens, "/", usage.completion_tokens, "/",
                    usage.total_tokens);
  }
  void OnDone(const Exchange&) override {
    transcript_.Add("done");
    ++done_;
  }
  void OnFinished(const Exchange& exchange) override {
    transcript_.Add("finished ", InfoOf(*exchange.cause).label);
    finished_.push_back(exchange);
  }

  const std::vector<Frame>& frames() const { return frames_; }
  int done() const { return done_; }
  const std::vector<Exchange>& finished() const { return finished_; }

 private:
  Transcript& transcript_;
  std::vector<Frame> frames_;
  int done_ = 0;
  std::vector<Exchange> finished_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_RECORDING_OBSERVER_H_
