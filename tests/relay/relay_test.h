#ifndef SLUICE_TESTS_RELAY_RELAY_TEST_H_
#define SLUICE_TESTS_RELAY_RELAY_TEST_H_

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/config/store.h"
#include "lib/exchange/cancellation.h"
#include "lib/relay/proxy.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_transport.h"
#include "tests/support/recording_observer.h"
#include "tests/support/recording_sink.h"

namespace sluice::relay {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Script;

inline constexpr absl::string_view kEventStreamType = "text/event-stream";

/// Frames of a chat completion, as short as they go.
inline constexpr absl::string_view kHello =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n";
inline constexpr absl::string_view kStop =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
inline constexpr absl::string_view kUsage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n";
inline constexpr absl::string_view kDone = "data: [DONE]\n\n";
inline constexpr absl::string_view kErrorFrame =
    "data: {\"error\":{\"message\":\"out of memory\",\"type\":\"server_error\"}}\n\n";

/// Usage without details.
Usage Tokens(int64_t prompt, int64_t completion, int64_t total);

/// A script that answers with a stream of one word.
Script GoodStream();

/// One exchange at a time through the relay core, over fakes.
class RelayTest : public ::testing::Test {
 protected:
  RelayTest();
  ~RelayTest() override;

  /// One pool `chat` with these endpoints serves every model; `edit` changes the rest of it.
  void Configure(std::initializer_list<absl::string_view> endpoints,
                 const std::function<void(config::Pool&)>& edit = nullptr);
  void ConfigureAll(config::Config config);

  static Request ChatRequest();

  std::unique_ptr<Answer> Serve(Request request = ChatRequest());
  /// Moves `answer` to its end.
  Answer::Step Drive(Answer& answer);
  /// Serves and drives; the last step.
  Answer::Step Run(Request request = ChatRequest());

  /// The record of the exchange, once it has finished.
  const Exchange& finished() const;
  Cause cause() const { return *finished().cause; }
  /// The labels of all attempts' failures, `-` for one that did not fail: "connect_failed -".
  std::string attempt_failures() const;
  const std::string* AnswerHeader(absl::string_view name) const {
    return sink_.head().headers.Find(name);
  }

  testing::FakeClock clock_;
  Cancellation cancellation_;
  testing::Transcript transcript_;
  ExchangeRegistry registry_;
  testing::RecordingObserver observer_{transcript_};
  Observers observers_;  // both
  testing::RecordingSink sink_{transcript_};
  testing::FakeTransport transport_{clock_, cancellation_};
  upstream::EndpointTable endpoints_;
  upstream::KeyRing keys_{clock_};
  config::Store store_{clock_};
  Proxy proxy_{{clock_, store_, endpoints_, keys_, transport_, observers_, registry_}};
  std::vector<std::string> log_;
};

}  // namespace sluice::relay

#endif  // SLUICE_TESTS_RELAY_RELAY_TEST_H_
