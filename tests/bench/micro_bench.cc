// What the relay does per frame and per request, without sockets. Google Benchmark; `scripts/bench
// --micro`.

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "benchmark/benchmark.h"
#include "lib/dialect/dialect.h"
#include "lib/events/hub.h"
#include "lib/exchange/exchange.h"
#include "lib/relay/headers.h"
#include "lib/sse/splitter.h"

namespace sluice {
namespace {

std::string ChatFrame(int number) {
  return absl::StrCat(
      R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,)",
      R"("model":"lantern-8b","choices":[{"index":0,"delta":{"content":" token)", number,
      R"("},"finish_reason":null}]})", "\n\n");
}

/// A piece of `frames` whole events.
std::string Piece(int64_t frames) {
  std::string piece;
  for (int64_t i = 0; i < frames; ++i) piece += ChatFrame(static_cast<int>(i));
  return piece;
}

void SetPerFrame(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void SplitPiece(benchmark::State& state) {
  const std::string piece = Piece(state.range(0));
  sse::Splitter splitter;
  for (auto _ : state) {
    splitter.Feed(piece, [](const sse::Frame& frame) { benchmark::DoNotOptimize(frame.end); });
  }
  SetPerFrame(state);
}
BENCHMARK(SplitPiece)->Arg(1)->Arg(32);

void SplitAndReadPiece(benchmark::State& state) {
  const std::string piece = Piece(state.range(0));
  sse::Splitter splitter;
  dialect::StreamReader reader(dialect::Dialect::kOpenAiChat);
  for (auto _ : state) {
    splitter.Feed(piece, [&](const sse::Frame& frame) {
      benchmark::DoNotOptimize(reader.Read(frame).content);
    });
  }
  SetPerFrame(state);
}
BENCHMARK(SplitAndReadPiece)->Arg(1)->Arg(32);

void PublishChunk(benchmark::State& state) {
  events::Hub hub;
  const auto subject = std::make_shared<const Subject>();
  for (auto _ : state) {
    events::Event event;
    event.subject = subject;
    event.what = events::Chunk{1, 180, {}};
    hub.Publish(std::move(event));
  }
}
BENCHMARK(PublishChunk);

void ReadUsageOfBody(benchmark::State& state) {
  const std::string body =
      R"({"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"message":)"
      R"({"role":"assistant","content":"A short answer."},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":12,"completion_tokens":4,"total_tokens":16}})";
  for (auto _ : state) {
    benchmark::DoNotOptimize(dialect::ReadBody(dialect::Dialect::kOpenAiChat, body).usage);
  }
}
BENCHMARK(ReadUsageOfBody);

void PrepareRequestHeaders(benchmark::State& state) {
  Request request;
  request.method = "POST";
  request.target = "/v1/chat/completions";
  for (const auto& [name, value] : {std::pair{"Host", "gateway.test"},
                                    {"Content-Type", "application/json"},
                                    {"Accept", "text/event-stream"},
                                    {"User-Agent", "OpenAI/Python 1.58.1"},
                                    {"Authorization", "Bearer sk-0123456789"},
                                    {"X-Stainless-Lang", "python"}}) {
    request.headers.Add(name, value);
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        relay::PrepareOutbound(request, "x0000000000000001", config::Credentials::kReplace));
  }
}
BENCHMARK(PrepareRequestHeaders);

void PeekAtRequest(benchmark::State& state) {
  const std::string body =
      absl::StrCat(R"({"model":"lantern-8b","stream":true,"messages":[{"role":"user","content":")",
                   std::string(static_cast<size_t>(state.range(0)), 'x'), "\"}]}");
  for (auto _ : state) benchmark::DoNotOptimize(dialect::PeekRequest(body).ok());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(PeekAtRequest)->Arg(1 << 10)->Arg(64 << 10);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
