#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/event_text.h"
#include "admin/flag_values.h"
#include "admin/json.h"
#include "admin/pause.h"
#include "admin/resume_file.h"
#include "admin/watch_request.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

constexpr std::chrono::milliseconds kFirstRetryDelay(100);
constexpr std::chrono::milliseconds kMaxRetryDelay(5000);

void GoOnAfter(absl::string_view token, v1::WatchEventsRequest* request) {
  request->set_resume_token(std::string(token));
  request->clear_tail();  // which a token excludes
  request->clear_since();
}

ExitCode ReportFileError(const absl::Status& error, std::ostream& err) {
  err << "sluicectl: --resume-file: " << EscapeText(error.message()) << "\n";
  return ExitCode::kError;
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

/// Also after the server ended a watch that read too slowly, and while that one still has its
/// place.
bool MayWatchAgain(const absl::Status& end) {
  return IsTransient(end) || absl::IsCancelled(end) || absl::IsResourceExhausted(end);
}

}  // namespace

ExitCode RunWatch(CommandContext& context) {
  World& world = context.world;
  absl::StatusOr<v1::WatchEventsRequest> asked =
      MakeWatchRequest(context.invocation, world.clock.WallNow());
  if (!asked.ok()) return ReportUsageError(context, asked.status());
  v1::WatchEventsRequest request = *std::move(asked);
  std::optional<ResumeFile> resume_file;
  if (const absl::string_view path = context.invocation.flag("resume-file"); !path.empty()) {
    resume_file.emplace(path);
    const absl::StatusOr<std::string> token = resume_file->Read();
    if (!token.ok()) return ReportFileError(token.status(), world.err);
    if (!token->empty()) GoOnAfter(*token, &request);
  }

  bool ever_connected = false;
  bool connected = false;
  std::chrono::milliseconds delay = kFirstRetryDelay;
  absl::Status written;
  while (true) {
    const absl::Status end = context.client.WatchEvents(
        request, world.stop, [&](const v1::WatchEventsResponse& response) {
          if (ever_connected && !connected) world.err << "sluicectl: connected again\n";
          ever_connected = connected = true;
          delay = kFirstRetryDelay;
          world.out << ResponseText(response, context.json(), world.zone) << std::flush;
          if (!world.out.good()) return false;  // nobody reads it any more
          if (resume_file && response.resume_token() != request.resume_token()) {
            written = resume_file->Write(response.resume_token());
          }
          GoOnAfter(response.resume_token(), &request);
          return written.ok();
        });
    if (!written.ok()) return ReportFileError(written, world.err);
    if (world.stop.stop_requested() || !world.out.good()) return ExitCode::kOk;
    if (end.ok() && !request.follow()) return ExitCode::kOk;
    if (!end.ok() && !(ever_connected && MayWatchAgain(end))) {
      return ReportCallError(end, context.server(), world.err);
    }
    if (connected) {
      world.err << "sluicectl: the watch was cut off"
                << (end.ok() ? "" : absl::StrCat(" (", EscapeText(end.message()), ")"))
                << "; trying again until interrupted\n";
      connected = false;
    }
    PauseUnlessStopped(delay, world.stop);
    if (world.stop.stop_requested()) return ExitCode::kOk;
    delay = std::min(delay * 2, kMaxRetryDelay);
  }
}

}  // namespace sluice::admin
