#ifndef SLUICE_SERVER_TAIL_STREAM_H_
#define SLUICE_SERVER_TAIL_STREAM_H_

#include <memory>

#include "absl/time/time.h"

#include "lib/exchange/registry.h"
#include "server/pumped_stream.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::server {

/// One TailExchange call: sends what its tap caught until the exchange has ended.
class TailStream final : public PumpedStream<control::v1::TailExchangeResponse> {
 public:
  /// `tap` is of the exchange that `view` shows; the others are as in PumpedStream.
  TailStream(grpc::CallbackServerContext* context, const StreamDeps& deps, const ExchangeView& view,
             std::shared_ptr<Tap> tap);
  ~TailStream() override;

 private:
  Next Fill(Instant now, control::v1::TailExchangeResponse* response,
            grpc::Status* status) override;

  ExchangeRegistry& registry_;
  const ExchangeId id_;
  const Instant accepted_;
  const absl::Time started_;
  const std::shared_ptr<Tap> tap_;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_TAIL_STREAM_H_
