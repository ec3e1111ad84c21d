#ifndef SLUICE_SERVER_PROTO_TIME_H_
#define SLUICE_SERVER_PROTO_TIME_H_

#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/timestamp.pb.h"

#include "lib/base/clock.h"

namespace sluice::server {

google::protobuf::Duration ToProto(Duration duration);
google::protobuf::Timestamp ToProto(absl::Time time);
/// Saturates: the message reaches further than a Duration does.
Duration FromProto(const google::protobuf::Duration& proto);
absl::Time FromProto(const google::protobuf::Timestamp& proto);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_PROTO_TIME_H_
