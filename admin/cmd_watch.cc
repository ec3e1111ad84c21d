#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/event_text.h"
#include "admin/json.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

constexpr int kMaxTail = 1'000'000;
constexpr std::chrono::milliseconds kFirstRetryDelay(100);
constexpr std::chrono::milliseconds kMaxRetryDelay(5000);

void SleepUnlessStopped(std::chrono::milliseconds delay, std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock<std::mutex> lock(mutex);
  never.wait_for(lock, stop, delay, [] { return false; });
}

std::string ResponseText(const v1::WatchEventsResponse& response, bool json, absl::TimeZone zone) {
  std::string text;
  if (response.has_lost()) {
    text += json ? absl::StrCat("{\"lost\":", ToJson(response.lost()), "}\n")
                 : LostLine(response.lost());
  }
  for (const v1::Event& event : response.events()) {
    text += json ? ToJson(event) + "\n" : EventLine(event, zone);
  }
  return text;
}

}  // namespace

ExitCode RunWatch(CommandContext& context) {
  World& world = context.world;
  v1::WatchEventsRequest request;
  request.set_follow(true);
  int tail = 0;
  if (!absl::SimpleAtoi(context.invocation.flag("tail"), &tail) || tail < 0 || tail > kMaxTail) {
    world.err << "sluicectl: --tail: not a number from 0 to " << kMaxTail << ": "
              << EscapeText(context.invocation.flag("tail")) << "\nSee `sluicectl help watch`.\n";
    return ExitCode::kUsage;
  }
  request.set_tail(tail);

  bool ever_connected = false;
  bool connected = false;
  std::chrono::milliseconds delay = kFirstRetryDelay;
  while (true) {
    const absl::Status end = context.client.WatchEvents(
        request, world.stop, [&](const v1::WatchEventsResponse& response) {
          if (ever_connected && !connected) world.err << "sluicectl: connected again\n";
          ever_connected = connected = true;
          delay = kFirstRetryDelay;
          request.set_resume_token(response.resume_token());
          request.clear_tail();  // excluded by a token
          world.out << ResponseText(response, context.json(), world.zone) << std::flush;
          return world.out.good();  // else nobody reads it any more
        });
    if (world.stop.stop_requested() || !world.out.good()) return ExitCode::kOk;
    if (!end.ok() && !(IsTransient(end) && ever_connected)) {
      return ReportCallError(end, context.server(), world.err);
    }
    if (connected) {
      world.err << "sluicectl: the watch was cut off"
                << (end.ok() ? "" : absl::StrCat(" (", EscapeText(end.message()), ")"))
                << "; trying again until interrupted\n";
      connected = false;
    }
    SleepUnlessStopped(delay, world.stop);
    if (world.stop.stop_requested()) return ExitCode::kOk;
    delay = std::min(delay * 2, kMaxRetryDelay);
  }
}

}  // namespace sluice::admin
