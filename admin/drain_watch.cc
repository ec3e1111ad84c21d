#include "admin/drain_watch.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/time_util.h"

#include "admin/call_error.h"
#include "admin/escape.h"
#include "admin/exchange_text.h"
#include "admin/flag_values.h"
#include "admin/json.h"
#include "admin/wording.h"
#include "lib/base/status.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

std::string Exchanges(int64_t count) {
  return absl::StrCat(count, count == 1 ? " exchange" : " exchanges");
}

std::string ProgressLine(const v1::DrainProgress& progress, absl::Time now) {
  std::string line = absl::StrCat(Exchanges(progress.remaining()),
                                  progress.remaining() == 1 ? " remains" : " remain");
  if (!progress.oldest().empty()) {
    const v1::Exchange& oldest = progress.oldest(0);
    absl::StrAppend(&line, "; the oldest is ", EscapeName(oldest.id()), " of ",
                    EscapeName(oldest.model()), ", ", DurationText(ToDuration(oldest.age())),
                    " old");
  }
  const absl::Duration left = ToTime(progress.deadline()) - now;
  absl::StrAppend(&line, left > absl::ZeroDuration()
                             ? absl::StrCat("; ", DurationText(left), " left")
                             : "; the time is up");
  return line;
}

/// Says how a drain that was done went.
ExitCode ReportOutcome(const Drain& drain, const v1::DrainProgress& last, bool json, World& world) {
  if (last.remaining() == 0) {
    if (!json) {
      world.out << "drained: " << drain.what << " serves nobody any more";
      if (last.cancelled() > 0) world.out << "; cancelled " << Exchanges(last.cancelled());
      world.out << "\n";
    }
    if (!drain.next.empty()) world.err << "sluicectl: " << drain.next << "\n";
    return ExitCode::kOk;
  }
  if (!json) {
    world.out << ExchangeTable(
        std::vector<v1::Exchange>(last.oldest().begin(), last.oldest().end()));
  }
  world.err << "sluicectl: the time is up, and " << drain.what << " still serves "
            << Exchanges(last.remaining());
  if (last.cancelled() > 0) {
    world.err << ", of which " << last.cancelled() << " were cancelled\n";
  } else {
    world.err << "\nDrain it again to wait longer, or with --cancel to end them.\n";
  }
  world.err << drain.back << "\n";
  return ExitCode::kError;
}

}  // namespace

absl::StatusOr<google::protobuf::Duration> DrainTimeout(const Invocation& invocation) {
  SLUICE_ASSIGN_OR_RETURN(const absl::Duration timeout,
                          FlagDuration(invocation, "timeout", absl::ZeroDuration()));
  return google::protobuf::util::TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(timeout));
}

ExitCode WatchDrain(CommandContext& context, const Drain& drain) {
  World& world = context.world;
  std::optional<v1::DrainProgress> last;
  const absl::Status end = drain.call([&](const v1::DrainProgress& progress) {
    last = progress;
    if (context.json()) {
      world.out << ToJson(progress) << "\n" << std::flush;
    } else if (!progress.done()) {
      world.err << "sluicectl: " << ProgressLine(progress, world.clock.WallNow()) << "\n";
    }
    return world.out.good();
  });
  if (last && last->done()) return ReportOutcome(drain, *last, context.json(), world);

  const ExitCode code =
      end.ok() ? ExitCode::kError : ReportCallError(end, context.server(), world.err);
  if (last || end.ok()) {
    world.err << "sluicectl: not waiting any more; " << drain.what
              << " stays drained, and nothing is cancelled\n"
              << drain.back << "\n";
  }
  return code;
}

}  // namespace sluice::admin
