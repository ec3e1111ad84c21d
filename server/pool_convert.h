#ifndef SLUICE_SERVER_POOL_CONVERT_H_
#define SLUICE_SERVER_POOL_CONVERT_H_

#include "lib/config/config.h"
#include "sluice/control/v1/pool.pb.h"

namespace sluice::server {

/// The parts of a pool, each with every setting, defaults too. FromProto gives its default to what
/// is not set. See config_convert.h for the whole.
control::v1::Endpoint ToProto(const config::Endpoint& endpoint);
config::Endpoint FromProto(const control::v1::Endpoint& proto);
control::v1::Timeouts ToProto(const config::Timeouts& timeouts);
config::Timeouts FromProto(const control::v1::Timeouts& proto);
control::v1::Retry ToProto(const config::Retry& retry);
config::Retry FromProto(const control::v1::Retry& proto);
control::v1::Hedge ToProto(const config::Hedge& hedge);
config::Hedge FromProto(const control::v1::Hedge& proto);
control::v1::Health ToProto(const config::Health& health);
config::Health FromProto(const control::v1::Health& proto);
control::v1::Probe ToProto(const config::Probe& probe);
config::Probe FromProto(const control::v1::Probe& proto);
control::v1::Queue ToProto(const config::Queue& queue);
config::Queue FromProto(const control::v1::Queue& proto);
control::v1::Tls ToProto(const TlsOptions& tls);
TlsOptions FromProto(const control::v1::Tls& proto);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_POOL_CONVERT_H_
