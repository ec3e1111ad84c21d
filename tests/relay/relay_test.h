#ifndef SLUICE_TESTS_RELAY_RELAY_TEST_H_
#define SLUICE_TESTS_RELAY_RELAY_TEST_H_

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/admission/gate.h"
#include "lib/config/store.h"
#include "lib/exchange/cancellation.h"
#include "lib/relay/proxy.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "tests/support/fake_branches.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_parking_lot.h"
#include "tests/support/fake_random.h"
#include "tests/support/fake_transport.h"
#include "tests/support/recording_observer.h"
#include "tests/support/recording_sink.h"
#include "tests/support/temp_dir.h"

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

  /// For proxies made from here on; of each pair, a principal and its key.
  void RequireClientKeys(
      std::initializer_list<std::pair<absl::string_view, absl::string_view>> keys);

  static Request ChatRequest();

  std::unique_ptr<Answer> Serve(Request request = ChatRequest());
  /// Moves `answer` to its end.
  Answer::Step Drive(Answer& answer);
  /// Serves and drives; the last step.
  Answer::Step Run(Request request = ChatRequest());

  /// As Run, into a sink of its own: for one exchange of several.
  testing::RecordingSink RunApart(Request request = ChatRequest());

  /// The record of the exchange, once it has finished.
  const Exchange& finished() const;
  Cause cause() const { return *finished().cause; }
  /// The labels of all attempts' failures, `-` for one that did not fail: "connect_failed -".
  std::string attempt_failures() const;
  const std::string* AnswerHeader(absl::string_view name) const {
    return sink_.head().headers.Find(name);
  }

  ProxyDeps Deps(Observer& observer) {
    return {.clock = clock_,
            .config = store_,
            .client_keys = client_keys_.get(),
            .gate = gate_,
            .endpoints = endpoints_,
            .keys = keys_,
            .retry_budgets = retry_budgets_,
            .hedge_budgets = hedge_budgets_,
            .transport = transport_,
            .parking_lot = parking_lot_,
            .branches = branches_,
            .observer = observer,
            .registry = registry_};
  }

  testing::FakeClock clock_;
  Cancellation cancellation_;
  testing::Transcript transcript_;
  ExchangeRegistry registry_;
  testing::RecordingObserver observer_{transcript_};
  Observers observers_;  // both
  testing::RecordingSink sink_{transcript_};
  testing::FakeTransport transport_{clock_, cancellation_};
  testing::FakeRandom random_;
  upstream::EndpointTable endpoints_{clock_, random_};
  upstream::RetryBudgets retry_budgets_;
  upstream::HedgeBudgets hedge_budgets_;
  upstream::KeyRing keys_{clock_, random_};
  config::Store store_{clock_};
  admission::Gate gate_{clock_};
  testing::FakeParkingLot parking_lot_{clock_, cancellation_};
  testing::FakeBranches branches_;
  testing::TempDirectory directory_;
  std::unique_ptr<admission::ClientKeysFile> client_keys_;  // for proxies made from here on
  Proxy proxy_{Deps(observers_)};
  std::vector<std::string> log_;
};

}  // namespace sluice::relay

#endif  // SLUICE_TESTS_RELAY_RELAY_TEST_H_
