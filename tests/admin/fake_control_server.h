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
  using DrainWriter = grpc::ServerWriter<control::v1::DrainProgress>;
  using TailWriter = grpc::ServerWriter<control::v1::TailExchangeResponse>;
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
  std::deque<grpc::Status> update_results;  // of one call each, before update_result counts
  grpc::Status change_result;  // of the other calls that change it; OK: they answer `config`
  control::v1::ValidateConfigResponse violations;
  control::v1::PlanConfigResponse plan;
  control::v1::ListConfigVersionsResponse versions;
  control::v1::Exchange exchange;  // of GetExchange and CancelExchange
  std::deque<control::v1::ListExchangesResponse> exchange_pages;  // one per call, then the last
  grpc::Status exchange_result;
  control::v1::ListEndpointsResponse endpoints;
  control::v1::EndpointStatus endpoint;  // of ResumeEndpoint
  grpc::Status endpoint_result;
  std::function<grpc::Status(grpc::ServerContext*, DrainWriter*)> drain;
  std::function<grpc::Status(grpc::ServerContext*, TailWriter*)> tail;
  control::v1::GetUsageResponse usage;
  std::deque<control::v1::CheckLeaksResponse> leaks;  // one per call, then the last
  std::deque<WatchScript> watches;  // one per call; a call after the last is UNAVAILABLE

  std::vector<control::v1::UpdateConfigRequest> updates() const {
    MutexLock lock(&mutex_);
    return updates_;
  }
  std::vector<control::v1::WatchEventsRequest> watch_requests() const {
    MutexLock lock(&mutex_);
    return watch_requests_;
  }
  /// The requests that were neither GetConfig nor UpdateConfig, as text.
  std::vector<std::string> requests() const {
    MutexLock lock(&mutex_);
    return requests_;
  }
  int config_reads() const {
    MutexLock lock(&mutex_);
    return config_reads_;
  }

 private:
  class Control final : public control::v1::ControlService::Service {
   public:
    explicit Control(FakeControlServer* fake) : fake_(fake) {}
    grpc::Status GetConfig(grpc::ServerContext*, const control::v1::GetConfigRequest* request,
                           control::v1::Config* response) override {
      MutexLock lock(&fake_->mutex_);
      ++fake_->config_reads_;
      *response = fake_->config;
      if (request->has_generation()) response->set_generation(request->generation());
      return grpc::Status::OK;
    }
    grpc::Status UpdateConfig(grpc::ServerContext*, const control::v1::UpdateConfigRequest* request,
                              control::v1::Config* response) override {
      MutexLock lock(&fake_->mutex_);
      fake_->updates_.push_back(*request);
      *response = request->config();
      response->set_generation(2);
      response->set_etag("e2");
      if (fake_->update_results.empty()) return fake_->update_result;
      const grpc::Status result = fake_->update_results.front();
      fake_->update_results.pop_front();
      return result;
    }
    grpc::Status ValidateConfig(grpc::ServerContext*,
                                const control::v1::ValidateConfigRequest* request,
                                control::v1::ValidateConfigResponse* response) override {
      return fake_->Answer(*request, fake_->violations, grpc::Status::OK, response);
    }
    grpc::Status PlanConfig(grpc::ServerContext*, const control::v1::PlanConfigRequest* request,
                            control::v1::PlanConfigResponse* response) override {
      return fake_->Answer(*request, fake_->plan, fake_->change_result, response);
    }
    grpc::Status ListConfigVersions(grpc::ServerContext*,
                                    const control::v1::ListConfigVersionsRequest* request,
                                    control::v1::ListConfigVersionsResponse* response) override {
      return fake_->Answer(*request, fake_->versions, grpc::Status::OK, response);
    }
    grpc::Status RollbackConfig(grpc::ServerContext*,
                                const control::v1::RollbackConfigRequest* request,
                                control::v1::Config* response) override {
      return fake_->Answer(*request, fake_->config, fake_->change_result, response);
    }
    grpc::Status AddEndpoint(grpc::ServerContext*, const control::v1::AddEndpointRequest* request,
                             control::v1::Config* response) override {
      return fake_->Answer(*request, fake_->config, fake_->change_result, response);
    }
    grpc::Status RemoveEndpoint(grpc::ServerContext*,
                                const control::v1::RemoveEndpointRequest* request,
                                control::v1::Config* response) override {
      return fake_->Answer(*request, fake_->config, fake_->change_result, response);
    }

    grpc::Status CancelExchange(grpc::ServerContext*,
                                const control::v1::CancelExchangeRequest* request,
                                control::v1::Exchange* response) override {
      return fake_->Answer(*request, fake_->exchange, fake_->exchange_result, response);
    }
    grpc::Status ResumeEndpoint(grpc::ServerContext*,
                                const control::v1::ResumeEndpointRequest* request,
                                control::v1::EndpointStatus* response) override {
      return fake_->Answer(*request, fake_->endpoint, fake_->endpoint_result, response);
    }
    grpc::Status DrainEndpoint(grpc::ServerContext* context,
                               const control::v1::DrainEndpointRequest* request,
                               DrainWriter* writer) override {
      fake_->Remember(*request);
      return fake_->drain(context, writer);
    }
    grpc::Status DrainServer(grpc::ServerContext* context,
                             const control::v1::DrainServerRequest* request,
                             DrainWriter* writer) override {
      fake_->Remember(*request);
      return fake_->drain(context, writer);
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
    grpc::Status ListEndpoints(grpc::ServerContext*,
                               const control::v1::ListEndpointsRequest* request,
                               control::v1::ListEndpointsResponse* response) override {
      return fake_->Answer(*request, fake_->endpoints, fake_->endpoint_result, response);
    }
    grpc::Status ListExchanges(grpc::ServerContext*,
                               const control::v1::ListExchangesRequest* request,
                               control::v1::ListExchangesResponse* response) override {
      return fake_->Answer(*request, fake_->Next(&fake_->exchange_pages), fake_->exchange_result,
                           response);
    }
    grpc::Status GetExchange(grpc::ServerContext*, const control::v1::GetExchangeRequest* request,
                             control::v1::Exchange* response) override {
      return fake_->Answer(*request, fake_->exchange, fake_->exchange_result, response);
    }
    grpc::Status TailExchange(grpc::ServerContext* context,
                              const control::v1::TailExchangeRequest* request,
                              TailWriter* writer) override {
      fake_->Remember(*request);
      return fake_->tail(context, writer);
    }
    grpc::Status GetUsage(grpc::ServerContext*, const control::v1::GetUsageRequest* request,
                          control::v1::GetUsageResponse* response) override {
      return fake_->Answer(*request, fake_->usage, grpc::Status::OK, response);
    }
    grpc::Status CheckLeaks(grpc::ServerContext*, const control::v1::CheckLeaksRequest* request,
                            control::v1::CheckLeaksResponse* response) override {
      return fake_->Answer(*request, fake_->Next(&fake_->leaks), grpc::Status::OK, response);
    }

   private:
    FakeControlServer* const fake_;
  };

  template <typename Response>
  grpc::Status Answer(const google::protobuf::Message& request, const Response& answer,
                      const grpc::Status& result, Response* response) {
    Remember(request);
    *response = answer;
    return result;
  }
  void Remember(const google::protobuf::Message& request) {
    MutexLock lock(&mutex_);
    requests_.push_back(request.ShortDebugString());
  }
  template <typename Response>
  Response Next(std::deque<Response>* responses) {
    MutexLock lock(&mutex_);
    if (responses->empty()) return Response();
    Response next = responses->front();
    if (responses->size() > 1) responses->pop_front();
    return next;
  }

  mutable Mutex mutex_;
  std::vector<control::v1::UpdateConfigRequest> updates_ ABSL_GUARDED_BY(mutex_);
  std::vector<control::v1::WatchEventsRequest> watch_requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> requests_ ABSL_GUARDED_BY(mutex_);
  int config_reads_ ABSL_GUARDED_BY(mutex_) = 0;
  Control control_{this};
  Observer observer_{this};
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace sluice::admin

#endif  // SLUICE_TESTS_ADMIN_FAKE_CONTROL_SERVER_H_
