#include "admin/channel.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "grpcpp/support/client_interceptor.h"

#include "grpc/support/log.h"

namespace sluice::admin {
namespace {

// A watch is silent for 10 s at most (the server's heartbeat), so this only finds dead peers.
constexpr int kKeepaliveMs = 20'000;
constexpr int kMaxReconnectMs = 2'000;

/// Puts the token into every call. gRPC's own call credentials work with TLS only.
class SendToken final : public grpc::experimental::Interceptor {
 public:
  explicit SendToken(absl::string_view token) : authorization_(absl::StrCat("Bearer ", token)) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace("authorization", authorization_);
    }
    methods->Proceed();
  }

 private:
  const std::string authorization_;
};

class SendTokenFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit SendTokenFactory(Secret token) : token_(std::move(token)) {}
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new SendToken(token_.Reveal());
  }

 private:
  const Secret token_;
};

/// gRPC writes to standard error by itself; all that concerns the user is in the status of the
/// call.
void SilenceGrpc() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace

std::shared_ptr<grpc::Channel> OpenChannel(const Connection& connection) {
  SilenceGrpc();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  arguments.SetMaxReceiveMessageSize(
      -1);  // a configuration of thousands of pools is over the default
  if (!connection.server_name.empty()) arguments.SetSslTargetNameOverride(connection.server_name);
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> interceptors;
  if (!connection.token.empty()) {
    interceptors.push_back(std::make_unique<SendTokenFactory>(connection.token));
  }
  return grpc::experimental::CreateCustomChannelWithInterceptors(
      connection.server,
      connection.tls
          ? grpc::SslCredentials({connection.authorities, connection.key, connection.certificate})
          : grpc::InsecureChannelCredentials(),
      arguments, std::move(interceptors));
}

}  // namespace sluice::admin
