#ifndef SLUICE_ADMIN_TOP_MODEL_H_
#define SLUICE_ADMIN_TOP_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "sluice/control/v1/observer_service.pb.h"

namespace sluice::admin {

/// What the server says of itself at one moment.
struct TopSample {
  Instant at;
  control::v1::ServerStatus status;
  control::v1::ListEndpointsResponse endpoints;
  control::v1::ListExchangesResponse exchanges;  // those that run
};

/// What `top` shows, without how: the latest sample, rates from it and the one before, and the
/// user's choice of order, filter and stream. Confined to one thread.
class TopModel {
 public:
  /// What streams are sorted by; the numbers begin with the largest, the words with the first.
  enum class Column { kAge, kIdle, kFrames, kFramesPerSecond, kTtft, kTokens, kModel, kEndpoint };
  static absl::string_view NameOf(Column column);

  struct Stream {
    const control::v1::Exchange* exchange;  // of the latest sample
    std::optional<double> frames_per_second;
  };
  struct Endpoint {
    const control::v1::EndpointStatus* status;  // of the latest sample
    double frames_per_second = 0;               // of the streams that are listed
  };

  /// Takes the place of the sample before; while paused nothing does.
  void Add(TopSample sample);

  /// Null before the first.
  const TopSample* latest() const { return latest_ ? &*latest_ : nullptr; }
  /// Nothing before the second sample, and after a restart of the server.
  std::optional<double> accepted_per_second() const;
  /// Of the streams that are listed.
  double frames_per_second() const;
  const std::vector<Endpoint>& endpoints() const { return endpoints_; }
  /// Those that pass the filter, in order.
  const std::vector<Stream>& streams() const { return streams_; }

  void SortByNext();
  void Reverse();
  Column column() const { return column_; }
  bool reversed() const { return reversed_; }

  /// Only streams whose id, model, endpoint, principal or phase contain `text`, whatever the case.
  void SetFilter(absl::string_view text);
  const std::string& filter() const { return filter_; }

  void SetPaused(bool paused) { paused_ = paused; }
  bool paused() const { return paused_; }

  /// Selects the stream so many places further down, or up. The selection stays with a stream as it
  /// moves; when it ends, the one in its place is selected.
  void MoveSelection(int places);
  /// The place of the selected stream in streams(); 0 if there are none.
  size_t selected() const { return selected_; }
  const control::v1::Exchange* selected_exchange() const;

 private:
  /// Between the sample before and the latest one; nothing if there is none to compare with.
  std::optional<double> SecondsBetween() const;
  std::optional<double> FramesPerSecond(const control::v1::Exchange& exchange) const;
  void SumUpEndpoints();
  void Arrange();

  std::optional<TopSample> latest_;
  std::optional<TopSample> before_;
  absl::flat_hash_map<std::string, int64_t> frames_before_;  // by exchange
  std::vector<Endpoint> endpoints_;
  std::vector<Stream> streams_;
  Column column_ = Column::kAge;
  bool reversed_ = false;
  bool paused_ = false;
  std::string filter_;
  size_t selected_ = 0;
  std::string selected_id_;
};

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_TOP_MODEL_H_
