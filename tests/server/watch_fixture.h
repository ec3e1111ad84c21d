#ifndef SLUICE_TESTS_SERVER_WATCH_FIXTURE_H_
#define SLUICE_TESTS_SERVER_WATCH_FIXTURE_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/server/control_fixture.h"

namespace sluice::server {

/// One WatchEvents call and what it has brought so far.
class Watch {
 public:
  Watch(pb::ObserverService::Stub& stub, const pb::WatchEventsRequest& request)
      : reader_(stub.WatchEvents(&context_, request)) {}
  ~Watch() {
    if (!finished_) Cancel();
  }

  /// Takes one response; false at the end of the stream.
  bool Read() {
    pb::WatchEventsResponse response;
    if (!reader_->Read(&response)) return false;
    token = response.resume_token();
    last = response;
    if (response.has_lost()) lost += response.lost().count();
    for (const pb::Event& event : response.events()) sequences.push_back(event.sequence());
    return true;
  }

  void ReadUntilTold(int64_t count) {
    while (lost + static_cast<int64_t>(sequences.size()) < count && Read()) continue;
  }

  grpc::Status Finish() {
    finished_ = true;
    return reader_->Finish();
  }

  grpc::Status Cancel() {
    context_.TryCancel();
    return Finish();
  }

  std::vector<int64_t> sequences;
  int64_t lost = 0;
  std::string token;
  pb::WatchEventsResponse last;

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<pb::WatchEventsResponse>> reader_;
  bool finished_ = false;
};

class WatchTest : public ControlServerTest {
 protected:
  std::unique_ptr<Watch> Follow(const std::string& token = "") {
    pb::WatchEventsRequest request;
    request.set_follow(true);
    request.set_resume_token(token);
    return std::make_unique<Watch>(*observer_, request);
  }

  static std::vector<int64_t> Range(int64_t first, int64_t last) {
    std::vector<int64_t> range;
    for (int64_t i = first; i <= last; ++i) range.push_back(i);
    return range;
  }

  /// Publishes one response's worth of events that no connection takes unless its client reads.
  void PublishMoreThanAConnectionHolds() {
    events::Event event;
    event.what = std::make_shared<const events::ConfigChanged>(
        events::ConfigChanged{1, std::string(200'000, 'e')});
    for (size_t i = 0; i < events::Reader::kMaxBatch; ++i) hub_->Publish(event);
  }

  grpc::StatusCode CodeOf(const pb::WatchEventsRequest& request) {
    Watch watch(*observer_, request);
    while (watch.Read()) continue;
    return watch.Finish().error_code();
  }
};

}  // namespace sluice::server

#endif  // SLUICE_TESTS_SERVER_WATCH_FIXTURE_H_
