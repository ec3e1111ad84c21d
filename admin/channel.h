#ifndef SLUICE_ADMIN_CHANNEL_H_
#define SLUICE_ADMIN_CHANNEL_H_

#include <memory>

#include "grpcpp/channel.h"

#include "admin/connection.h"

namespace sluice::admin {

/// A channel that connects with the first call, and sends the token with each.
std::shared_ptr<grpc::Channel> OpenChannel(const Connection& connection);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_CHANNEL_H_
