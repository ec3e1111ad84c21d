// sluice-engine: an engine that replays a recorded stream, for demos and trials by hand.

#include <fstream>
#include <getopt.h>
#include <iostream>
#include <limits>
#include <signal.h>
#include <sstream>
#include <stdio.h>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "lib/base/status.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {
namespace {

constexpr char kUsage[] =
    R"(Usage: sluice-engine --stream FILE.sse [OPTION]...
       sluice-engine --silent [OPTION]...
Plays an engine: answers every POST with the recorded stream if its body has "stream": true, else with
a JSON completion. Also answers GET /v1/models and GET /health. Ends on SIGTERM or SIGINT.

  --listen HOST:PORT  where to listen; only 127.0.0.1 (default 127.0.0.1:9000; port 0: any free one)
  --stream FILE.sse   the stream to replay, one SSE event a piece
  --piece-bytes N     cut it into pieces of N bytes instead
  --pause-ms N        wait so long between two pieces (default 50)
  --repeat N          send all before the final [DONE] N times (default 1)
  --json FILE         what to answer when no stream is asked for
  --silent            send the head of a stream, then nothing, for ever
  --help              show this text

Prints one line per request, per answer and per client that left early.
)";

constexpr char kDefaultJson[] =
    R"({"id":"chatcmpl-engine","object":"chat.completion","created":0,"model":"demo","choices":[)"
    R"({"index":0,"message":{"role":"assistant","content":"Hello there"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}})";
constexpr char kModels[] =
    R"({"object":"list","data":[{"id":"demo","object":"model","created":0,"owned_by":"sluice-engine"}]})";

struct Settings {
  uint16_t port = 9000;
  std::string stream;
  size_t piece_bytes = 0;  // 0: one event a piece
  Duration pause = std::chrono::milliseconds(50);
  uint64_t repeat = 1;
  std::string json = kDefaultJson;
  bool silent = false;
  bool help = false;
};

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::ostringstream content;
  content << file.rdbuf();  // leaves it empty for a directory; does not throw
  return content.str();
}

template <typename Number>
absl::Status ParseNumber(absl::string_view option, absl::string_view text, Number* out) {
  uint64_t number;
  if (!absl::SimpleAtoi(text, &number) || number > std::numeric_limits<Number>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", option, ": not a number in range: ", text));
  }
  *out = static_cast<Number>(number);
  return absl::OkStatus();
}

absl::StatusOr<Settings> ParseArgs(int argc, char** argv) {
  enum { kListen = 1, kStream, kPieceBytes, kPauseMs, kRepeat, kJson, kSilent, kHelp };
  static constexpr option kOptions[] = {{"listen", required_argument, nullptr, kListen},
                                        {"stream", required_argument, nullptr, kStream},
                                        {"piece-bytes", required_argument, nullptr, kPieceBytes},
                                        {"pause-ms", required_argument, nullptr, kPauseMs},
                                        {"repeat", required_argument, nullptr, kRepeat},
                                        {"json", required_argument, nullptr, kJson},
                                        {"silent", no_argument, nullptr, kSilent},
                                        {"help", no_argument, nullptr, kHelp},
                                        {}};
  Settings settings;
  for (int found; (found = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    switch (found) {
      case kListen: {
        absl::string_view address = optarg;
        if (!absl::ConsumePrefix(&address, "127.0.0.1:")) {
          return absl::InvalidArgumentError("--listen: use 127.0.0.1:PORT");
        }
        SLUICE_RETURN_IF_ERROR(ParseNumber("listen", address, &settings.port));
        break;
      }
      case kStream: {
        SLUICE_ASSIGN_OR_RETURN(settings.stream, ReadFile(optarg));
        break;
      }
      case kPieceBytes:
        SLUICE_RETURN_IF_ERROR(ParseNumber("piece-bytes", optarg, &settings.piece_bytes));
        break;
      case kPauseMs: {
        uint32_t milliseconds = 0;
        SLUICE_RETURN_IF_ERROR(ParseNumber("pause-ms", optarg, &milliseconds));
        settings.pause = std::chrono::milliseconds(milliseconds);
        break;
      }
      case kRepeat:
        SLUICE_RETURN_IF_ERROR(ParseNumber("repeat", optarg, &settings.repeat));
        break;
      case kJson: {
        SLUICE_ASSIGN_OR_RETURN(settings.json, ReadFile(optarg));
        break;
      }
      case kSilent:
        settings.silent = true;
        break;
      case kHelp:
        settings.help = true;
        return settings;
      default:
        return absl::InvalidArgumentError("see sluice-engine --help");
    }
  }
  if (optind < argc) return absl::InvalidArgumentError(absl::StrCat("unexpected: ", argv[optind]));
  if (settings.stream.empty() && !settings.silent) {
    return absl::InvalidArgumentError("give --stream FILE.sse or --silent");
  }
  return settings;
}

Script StreamScript(const Settings& settings) {
  Script script;
  script.SseHead();
  if (settings.silent) return script.Hold();
  const std::vector<std::string> events = SplitEvents(settings.stream);
  const bool has_done = !events.empty() && absl::StrContains(events.back(), "[DONE]");
  const size_t done_bytes = has_done ? events.back().size() : 0;
  const std::string repeated = settings.stream.substr(0, settings.stream.size() - done_bytes);
  Script round;
  for (const std::string& piece : settings.piece_bytes > 0
                                      ? SplitBytes(repeated, settings.piece_bytes)
                                      : SplitEvents(repeated)) {
    round.Chunk(piece).Pause(settings.pause);
  }
  script.Repeat(settings.repeat, round);
  if (has_done) script.Chunk(events.back());
  return script.LastChunk();
}

ScriptedEngine::Responder MakeResponder(const Settings& settings) {
  return [stream = StreamScript(settings), json = Script().Json(settings.json),
          models = Script().Json(kModels), health = Script().Json(R"({"status":"ok"})"),
          not_found = Script().Json(R"({"error":{"message":"not found","type":"not_found"}})",
                                    "404 Not Found")](const EngineRequest& request) {
    if (request.method() == "POST") return request.stream() ? stream : json;
    if (request.path() == "/v1/models") return models;
    return request.path() == "/health" ? health : not_found;
  };
}

int Main(int argc, char** argv) {
  const absl::StatusOr<Settings> settings = ParseArgs(argc, argv);
  if (!settings.ok()) {
    std::cerr << "sluice-engine: " << settings.status().message() << "\n";
    return 2;
  }
  if (settings->help) {
    std::cout << kUsage;
    return 0;
  }
  // Blocked before the engine's thread starts, so that it inherits the mask and only sigwait sees
  // them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  signal(SIGPIPE, SIG_IGN);

  ScriptedEngine::Options options;
  options.port = settings->port;
  options.keep_requests = false;
  options.log = [](absl::string_view line) { std::cout << line << std::endl; };
  const auto engine = ScriptedEngine::Start(std::move(options));
  if (!engine.ok()) {
    std::cerr << "sluice-engine: " << engine.status().message() << "\n";
    return 1;
  }
  (*engine)->SetResponder(MakeResponder(*settings));
  std::cout << "listening on " << (*engine)->uri() << std::endl;
  int signal_number;
  sigwait(&ends, &signal_number);
  return 0;
}

}  // namespace
}  // namespace sluice::testing

int main(int argc, char** argv) { return sluice::testing::Main(argc, argv); }
