#ifndef SLUICE_SERVER_ENDPOINT_CONVERT_H_
#define SLUICE_SERVER_ENDPOINT_CONVERT_H_

#include <string>

#include "lib/exchange/state_changes.h"
#include "lib/upstream/endpoint_table.h"
#include "lib/upstream/key_ring.h"
#include "sluice/control/v1/endpoint.pb.h"

namespace sluice::server {

control::v1::EndpointStatus::State ToProto(EndpointStateChanged::State state);
control::v1::KeyStatus::State ToProto(KeyStateChanged::State state);

/// `uri` is empty when the endpoint is not in the configuration.
control::v1::EndpointStatus ToProto(const upstream::EndpointTable::Reading& reading,
                                    const std::string& uri);
control::v1::KeyStatus ToProto(const upstream::KeyRing::Reading& reading);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_ENDPOINT_CONVERT_H_
