#ifndef SLUICE_SERVER_EXCHANGE_CONVERT_H_
#define SLUICE_SERVER_EXCHANGE_CONVERT_H_

#include "lib/base/clock.h"
#include "lib/exchange/exchange.h"
#include "lib/exchange/registry.h"
#include "sluice/control/v1/exchange_record.pb.h"

namespace sluice::server {

/// Each fills an empty message. Text that came from a peer is made valid and short.

/// All but the attempts and gaps, as it is at `now`.
void ToProto(const ExchangeView& view, Instant now, control::v1::Exchange* proto);
/// The attempts and gaps as well.
void ToProtoInFull(const ExchangeView& view, Instant now, control::v1::Exchange* proto);

/// The summary of one that has finished.
void ToProto(const Exchange& record, control::v1::ExchangeFinished* proto);

control::v1::Usage ToProto(const Usage& usage);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_EXCHANGE_CONVERT_H_
