#ifndef SLUICE_TESTS_HTTP_UPSTREAM_TEST_H_
#define SLUICE_TESTS_HTTP_UPSTREAM_TEST_H_

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "lib/exchange/endpoint_uri.h"
#include "lib/exchange/seams.h"
#include "lib/http/upstream_client.h"
#include "lib/runtime/blocking.h"
#include "lib/runtime/loop_threads.h"
#include "tests/support/patience.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {

inline UpstreamAddress AddressOf(absl::string_view uri) {
  return {.uri = ParseEndpointUri(uri).value()};
}

/// An upstream client on one loop, and an engine that it may talk to.
class UpstreamTest : public ::testing::Test {
 protected:
  ~UpstreamTest() override {
    client_.ClosePools();
    loops_.Join();
    EXPECT_EQ(client_.open(), 0u);
  }

  /// Runs `body` in a fiber and waits for its end.
  void InFiber(std::function<void()> body) {
    std::promise<void> ended;
    runtime::Loop& loop = *loops_.loops()[0];
    loop.Post([&] {
      EXPECT_TRUE(loop.Spawn([&] {
        body();
        ended.set_value();
      }));
    });
    ended.get_future().wait();
  }

  struct Asked {
    WaitResult result;  // of what failed, or kEnd
    ResponseHead head;
    std::string body;
    size_t pieces = 0;
  };
  /// One request and its whole answer.
  Asked Ask(const UpstreamAddress& address, const std::string& target = "/chat",
            const std::string& body = "{}", Duration patience = kPatience) {
    Asked asked;
    InFiber([&] {
      const Instant deadline = std::chrono::steady_clock::now() + patience;
      const OutboundRequest request = {
          .method = "POST", .target = target, .headers = {}, .body = body};
      OpenResult opened = client_.Open(address, request, deadline);
      asked.result = std::move(opened.wait);
      if (opened.stream == nullptr) return;
      asked.result = opened.stream->ReadHead(deadline, &asked.head);
      while (asked.result.kind == WaitResult::kOk) {
        absl::string_view piece;
        bool last = false;
        asked.result = opened.stream->ReadBody(deadline, &piece, &last);
        if (asked.result.kind != WaitResult::kOk) break;
        absl::StrAppend(&asked.body, piece);
        ++asked.pieces;
      }
    });
    return asked;
  }

  const std::unique_ptr<ScriptedEngine> engine_ = ScriptedEngine::Start().value();
  runtime::BlockingPool threads_{2};
  runtime::LoopThreads loops_{1};
  http::UpstreamClient client_{loops_.loops(), threads_};
};

MATCHER_P2(FailsWith, cause, words, "") {
  *result_listener << "kind " << arg.kind << ", " << InfoOf(arg.failure).label << ": "
                   << arg.detail;
  return arg.kind == WaitResult::kFailed && arg.failure == cause &&
         arg.detail.find(words) != std::string::npos;
}

MATCHER(Ended, "") {
  *result_listener << "kind " << arg.kind << ", " << InfoOf(arg.failure).label << ": "
                   << arg.detail;
  return arg.kind == WaitResult::kEnd;
}

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_HTTP_UPSTREAM_TEST_H_
