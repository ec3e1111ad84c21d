#include "server/proto_time.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "google/protobuf/util/time_util.h"

namespace sluice::server {

using ::google::protobuf::util::TimeUtil;

google::protobuf::Duration ToProto(Duration duration) {
  return TimeUtil::NanosecondsToDuration(duration.count());
}

google::protobuf::Timestamp ToProto(absl::Time time) {
  return TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(time));
}

Duration FromProto(const google::protobuf::Duration& proto) {
  // Three seconds less than fit leave room for the nanoseconds, whatever their sign.
  constexpr int64_t kMostSeconds = std::numeric_limits<int64_t>::max() / 1'000'000'000 - 3;
  const int64_t seconds = std::clamp(proto.seconds(), -kMostSeconds, kMostSeconds);
  return std::chrono::seconds(seconds) + std::chrono::nanoseconds(proto.nanos());
}

absl::Time FromProto(const google::protobuf::Timestamp& proto) {
  return absl::FromUnixSeconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

}  // namespace sluice::server
