#include "lib/events/hub_observer.h"

#include <utility>

#include "absl/time/time.h"

namespace sluice::events {

void HubObserver::OnStarted(const Exchange& x) { Publish(x, x.stamps.accepted, ExchangeStarted{}); }

void HubObserver::OnAttempt(const Exchange& x, const Attempt& a) {
  Publish(x, a.started, AttemptStarted{});
}

void HubObserver::OnAttemptFailed(const Exchange& x, const Attempt& a) {
  Publish(x, a.ended.value_or(clock_.Now()),
          std::make_shared<const AttemptFailed>(
              AttemptFailed{a.failure.value_or(Cause::kInternal), a.http_status, a.detail}));
}

void HubObserver::OnFirstByte(const Exchange& x) {
  Publish(x, x.stamps.first_byte.value_or(clock_.Now()), FirstByte{x.http_status});
}

void HubObserver::OnFrame(const Exchange& x, const FrameInfo& f) {
  if (f.first_valid) Publish(x, f.at, FirstFrame{f.index});
  Publish(x, f.at, Chunk{f.index, f.end - f.start, f.gap});
}

void HubObserver::OnUsage(const Exchange& x, const Usage& u) {
  Publish(x, clock_.Now(), std::make_shared<const UsageReported>(UsageReported{u}));
}

void HubObserver::OnFinished(const Exchange& x) {
  Publish(x, x.stamps.done.value_or(clock_.Now()), x.shared_from_this());
}

void HubObserver::Publish(const Exchange& x, Instant at, What what) {
  const Duration since_start = at - x.stamps.accepted;
  hub_.Publish({.time = x.info().started + absl::FromChrono(since_start),
                .subject = x.subject,
                .since_start = since_start,
                .what = std::move(what)});
}

}  // namespace sluice::events
