// Watchers of a gateway's events. Opens READING streams that take all there is, and STUCK ones that
// take the first response and nothing after it; each has a connection of its own. Prints "ready"
// when all are open, and stays until it is killed.
//
//   bench_watch CONTROL_PORT READING STUCK

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "grpcpp/grpcpp.h"

#include "sluice/control/v1/observer_service.grpc.pb.h"

namespace {

namespace pb = ::sluice::control::v1;

class Watcher {
 public:
  explicit Watcher(const std::string& server) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = pb::ObserverService::NewStub(
        grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments));
    pb::WatchEventsRequest request;
    request.set_follow(true);
    stream_ = stub_->WatchEvents(&context_, request);
    if (!stream_->Read(&response_)) {
      std::fprintf(stderr, "bench_watch: %s\n", stream_->Finish().error_message().c_str());
      std::exit(1);
    }
  }

  void ReadAll() {
    while (stream_->Read(&response_)) continue;
  }

 private:
  std::unique_ptr<pb::ObserverService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<pb::WatchEventsResponse>> stream_;
  pb::WatchEventsResponse response_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_watch CONTROL_PORT READING STUCK\n");
    return 2;
  }
  const std::string server = std::string("127.0.0.1:") + argv[1];
  const int reading = std::atoi(argv[2]);
  const int stuck = std::atoi(argv[3]);
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < reading + stuck; ++i) watchers.push_back(std::make_unique<Watcher>(server));
  for (int i = 0; i < reading; ++i) {
    std::thread(&Watcher::ReadAll, watchers[static_cast<size_t>(i)].get()).detach();
  }
  std::puts("ready");
  std::fflush(stdout);
  while (true) pause();
}
