#include "admin/call_error.h"
#include "admin/commands.h"
#include "admin/escape.h"
#include "admin/exchange_request.h"
#include "admin/json.h"
#include "admin/wording.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;

void PrintFrame(const v1::TailExchangeResponse::Frame& frame, bool json, World& world) {
  if (json) {
    world.out << ToJson(frame) << "\n";
    return;
  }
  world.out << EscapeData(frame.data()) << "\n";
  if (frame.data_bytes() > static_cast<int64_t>(frame.data().size())) {
    world.err << "sluicectl: frame " << frame.index() << " has " << frame.data_bytes()
              << " bytes, these are the first " << frame.data().size() << "\n";
  }
}

}  // namespace

ExitCode RunExchangeTail(CommandContext& context) {
  World& world = context.world;
  ExitCode failed = ExitCode::kOk;
  const auto id = ExchangeIdArgument(context, &failed);
  if (!id) return failed;
  v1::TailExchangeRequest request;
  request.set_id(*id);
  v1::Cause cause = v1::CAUSE_UNSPECIFIED;
  const absl::Status end = context.client.TailExchange(
      request, world.stop, [&](const v1::TailExchangeResponse& response) {
        if (response.lost() > 0) {
          world.err << "sluicectl: lost " << response.lost()
                    << " frames: they passed faster than they were read\n";
        }
        for (const auto& frame : response.frames()) PrintFrame(frame, context.json(), world);
        world.out << std::flush;
        cause = response.cause();
        return world.out.good();
      });
  if (!end.ok()) return ReportCallError(end, context.server(), world.err);
  if (cause != v1::CAUSE_UNSPECIFIED) {
    world.err << "sluicectl: the exchange has ended: " << CauseText(cause) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace sluice::admin
