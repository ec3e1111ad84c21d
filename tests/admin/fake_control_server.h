#ifndef SLUICE_TESTS_ADMIN_FAKE_CONTROL_SERVER_H_
#define SLUICE_TESTS_ADMIN_FAKE_CONTROL_SERVER_H_

#include <chrono>
#include <deque>
#include <functional>
#include <grpcpp/grpcpp.h>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "lib/base/mutex.h"
#include "sluice/control/v1/control_service.grpc.pb.h"
#include "sluice/control/v1/error.pb.h"
#include "sluice/control/v1/observer_service.grpc.pb.h"

namespace sluice::admin {

/// A control server on a free port that answers as the test says and remembers what it was asked.
/// Thread-safe. Set the answers before the first call.
class FakeControlServer {
 public:
  using WatchWriter = grpc::ServerWriter<control::v1::WatchEventsResponse>;
  /// How one WatchEvents call goes.
  using WatchScript = std::function<grpc::Status(grpc::ServerContext*, WatchWriter*)>;

  FakeControlServer() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&control_);
    builder.RegisterService(&observer_);
    server_ = builder.BuildAndStart();
    address_ = absl::StrCat("127.0.0.1:", port);
  }
  ~FakeControlServer() { server_->Shutdown(std::chrono::system_clock::now()); }

  const std::string& address() const { return address_; }

  /// An error with details, as the real server makes it.
  static grpc::Status Error(grpc::StatusCode code, const std::string& message,
                            const control::v1::ErrorDetail& detail) {
    control::v1::StatusDetails details;
    details.set_code(code);
    details.set_message(message);
    details.add_details()->PackFrom(detail);
    return grpc::Status(code, message, details.SerializeAsString());
  }

  control::v1::ServerStatus status;
  control::v1::Config config;
  grpc::Status
      update_result;  // of UpdateConfig; OK: it echoes the request's config as generation 2
  std::deque<WatchScript> watches;  // one per call; a call after the last is UNAVAILABLE

  std::vector<control::v1::UpdateConfigRequest> updates() const {
    MutexLock lock(&mutex_);
    return updates_;
  }
  std::vector<control::v1::WatchEventsRequest> watch_requests() const {
    MutexLock lock(&mutex_);
    return watch_requests_;
  }
  int config_reads() const {
    MutexLock lock(&mutex_);
    return config_reads_;
  }

 private:
  class Control final : public control::v1::ControlService::Service {
   public:
    explicit Control(FakeControlServer* fake) : fake_(fake) {}
    grpc::Status GetConfig(grpc::ServerContext*, const control::v1::GetConfigRequest*,
                           control::v1::Config* response) override {
      MutexLock lock(&fake_->mutex_);
      ++fake_->config_reads_;
      *response = fake_->config;
      return grpc::Status::OK;
    }
    grpc::Status UpdateConfig(grpc::ServerContext*, const control::v1::UpdateConfigRequest* request,
                              control::v1::Config* response) override {
      MutexLock lock(&fake_->mutex_);
      fake_->updates_.push_back(*request);
      *response = request->config();
      response->set_generation(2);
      response->set_etag("e2");
      return fake_->update_result;
    }

   private:
    FakeControlServer* const fake_;
  };

  class Observer final : public control::v1::ObserverService::Service {
   public:
    explicit Observer(FakeControlServer* fake) : fake_(fake) {}
    grpc::Status GetServerStatus(grpc::ServerContext*, const control::v1::GetServerStatusRequest*,
                                 control::v1::ServerStatus* response) override {
      *response = fake_->status;
      return grpc::Status::OK;
    }
    grpc::Status WatchEvents(grpc::ServerContext* context,
                             const control::v1::WatchEventsRequest* request,
                             WatchWriter* writer) override {
      WatchScript script;
      {
        MutexLock lock(&fake_->mutex_);
        fake_->watch_requests_.push_back(*request);
        if (fake_->watches.empty())
          return grpc::Status(grpc::StatusCode::UNAVAILABLE, "no more watches");
        script = std::move(fake_->watches.front());
        fake_->watches.pop_front();
      }
      return script(context, writer);
    }

   private:
    FakeControlServer* const fake_;
  };

  mutable Mutex mutex_;
  std::vector<control::v1::UpdateConfigRequest> updates_ ABSL_GUARDED_BY(mutex_);
  std::vector<control::v1::WatchEventsRequest> watch_requests_ ABSL_GUARDED_BY(mutex_);
  int config_reads_ ABSL_GUARDED_BY(mutex_) = 0;
  Control control_{this};
  Observer observer_{this};
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace sluice::admin

#endif  // SLUICE_TESTS_ADMIN_FAKE_CONTROL_SERVER_H_
