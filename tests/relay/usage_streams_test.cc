// Ten thousand streams that were written with their usage: what is recorded is what was reported.

#include "tests/relay/usage_streams.h"

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "tests/relay/relay_test.h"

namespace sluice::relay {
namespace {

using testing::UsageStream;

constexpr uint64_t kStreams = 10000;

/// Keeps the last record alone.
class LastFinished final : public Observer {
 public:
  void OnFinished(const Exchange& exchange) override { last_ = exchange; }
  const Exchange& last() const { return *last_; }

 private:
  std::optional<Exchange> last_;
};

class UsageStreamsTest : public RelayTest {
 protected:
  /// Plays `bytes` in reads of at most `read_size`, then an end in order, or a reset if it is
  /// `cut`.
  void Play(const UsageStream& stream, const std::string& bytes, size_t read_size, bool cut) {
    Script script;
    script.Head(200, kEventStreamType).Body(bytes, read_size);
    cut ? script.Fail(Cause::kUpstreamReset) : script.End();
    transport_.Play(script);

    Request request = ChatRequest();
    request.target = stream.path;
    testing::Transcript transcript;
    testing::RecordingSink sink(transcript);
    const std::unique_ptr<Answer> answer =
        proxy_.Serve(std::move(request), clock_.Now(), cancellation_);
    while (answer->Next(sink) == Answer::Step::kMore) {
    }
    log_.clear();
    EXPECT_EQ(sink.body().substr(0, bytes.size()), bytes);
  }

  static std::string Text(const std::optional<Usage>& usage) {
    if (!usage.has_value()) return "none";
    const auto detail = [](const std::optional<int64_t>& count) {
      return count.has_value() ? absl::StrCat(*count) : "none";
    };
    return absl::StrCat(usage->prompt_tokens, "/", usage->completion_tokens, "/",
                        usage->total_tokens, ", cached ", detail(usage->cached_tokens),
                        ", reasoning ", detail(usage->reasoning_tokens));
  }

  LastFinished recorded_;
  Proxy proxy_{Deps(recorded_)};
};

TEST_F(UsageStreamsTest, AreRecordedAsReportedOrAsAbsent) {
  std::map<std::string, int> manners;
  for (uint64_t number = 0; number < kStreams && !HasFailure(); ++number) {
    const UsageStream stream = testing::MakeUsageStream(number);
    std::mt19937_64 random(~number);
    const size_t read_size = random() % 2 == 0 ? 65536 : 1 + random() % 64;
    const bool cut = stream.events.size() > 1 && random() % 4 == 0;
    const size_t events = cut ? 1 + random() % (stream.events.size() - 1) : stream.events.size();
    std::string bytes;
    std::optional<Usage> reported;
    for (size_t i = 0; i < events; ++i) {
      bytes += stream.events[i].bytes;
      if (stream.events[i].usage.has_value()) reported = stream.events[i].usage;
    }
    if (cut) {  // inside the next one
      const std::string& next = stream.events[events].bytes;
      bytes += next.substr(0, 1 + random() % (next.size() / 2));
    }
    SCOPED_TRACE(absl::StrCat("stream ", number, ", usage ", stream.manner, ":\n", bytes));
    Play(stream, bytes, read_size, cut);

    EXPECT_EQ(recorded_.last().cause, cut ? Cause::kUpstreamReset : Cause::kCompleted);
    EXPECT_EQ(Text(recorded_.last().usage), Text(reported));
    const Provenance of_reported = cut ? Provenance::kPartial : Provenance::kReported;
    EXPECT_EQ(recorded_.last().provenance,
              reported.has_value() ? of_reported : Provenance::kAbsent);
    ++manners[absl::StrCat(stream.path, " ", stream.manner, cut ? ", cut" : "")];
  }
  if (HasFailure()) return;
  EXPECT_EQ(manners.size(), 46u) << "all four dialects, each manner, whole and cut";
  for (const auto& [manner, streams] : manners) EXPECT_GT(streams, 20) << manner;
}

}  // namespace
}  // namespace sluice::relay
