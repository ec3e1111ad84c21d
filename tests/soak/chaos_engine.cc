#include "tests/soak/chaos_engine.h"

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "tests/support/chat_events.h"
#include "tests/support/engine_request.h"

namespace sluice::testing {
namespace {

using std::chrono::milliseconds;

constexpr int kMostEvents = 60;

uint64_t StreamOf(const EngineRequest& request) {
  const std::vector<std::string> values = request.HeaderValues(kStreamHeader);
  uint64_t stream = 0;
  if (values.size() == 1 && absl::SimpleAtoi(values[0], &stream)) return stream;
  return 0;
}

Script Stream(uint64_t stream, std::mt19937_64& random) {
  const auto below = [&random](uint64_t bound) { return random() % bound; };
  Script script;
  script.SseHead();
  const uint64_t events = 1 + below(kMostEvents);
  for (uint64_t i = 0; i < events; ++i) {
    script.Chunk(ContentEvent(absl::StrCat("s", stream, "-", i, ";")));
    if (below(8) == 0) script.Pause(milliseconds(1 + below(20)));
  }
  switch (below(8)) {
    case 0:
      return script.Reset();
    case 1:
      return script.Fin();
    case 2:
      return script.HalfChunk("data: {\"id\":\"t\",\"cho", 500).Fin();
    case 3:
      return script.Pause(milliseconds(300)).Reset();
    default:
      script.Chunk(FinishEvent());
      script.Chunk(UsageEvent(10, static_cast<int64_t>(events)));
      return script.Chunk(kDoneEvent).LastChunk();
  }
}

Script Answer(uint64_t seed, const EngineRequest& request) {
  const uint64_t stream = StreamOf(request);
  std::mt19937_64 random(seed ^ (stream * 0x9E3779B97F4A7C15));
  switch (random() % 16) {
    case 0:
      return Script().Json(R"({"error":{"message":"busy"}})", "503 Service Unavailable");
    case 1:
      return Script().Json(R"({"error":{"message":"broke"}})", "500 Internal Server Error");
    case 2:
      return Script().Reset();
    case 3:
      return Script()
          .SseHead()
          .Chunk("data: {\"error\":{\"message\":\"no\",\"type\":\"server_error\"}}\n\n")
          .LastChunk();
    case 4:  // slow to begin
      return Script().Pause(milliseconds(30)).Repeat(1, Stream(stream, random));
    default:
      return Stream(stream, random);
  }
}

}  // namespace

std::unique_ptr<ScriptedEngine> StartChaosEngine(uint64_t seed) {
  ScriptedEngine::Options options;
  options.keep_requests = false;
  std::unique_ptr<ScriptedEngine> engine = *ScriptedEngine::Start(options);
  engine->SetResponder([seed](const EngineRequest& request) { return Answer(seed, request); });
  return engine;
}

}  // namespace sluice::testing
