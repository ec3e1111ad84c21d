#include "server/endpoint_convert.h"

#include "server/proto_time.h"

namespace sluice::server {
namespace {

namespace pb = ::sluice::control::v1;
using server::ToProto;  // overloads of the enclosing namespace, which those below would hide

/// What keeps attempts away; of several things, what an operator did.
pb::EndpointStatus::State StateOf(const upstream::EndpointTable::Reading& reading,
                                  bool configured) {
  if (!configured) return pb::EndpointStatus::STATE_REMOVED;
  if (reading.draining()) return pb::EndpointStatus::STATE_DRAINING;
  switch (reading.health) {
    case upstream::Health::State::kWell:
      return pb::EndpointStatus::STATE_ACTIVE;
    case upstream::Health::State::kEjected:
      return pb::EndpointStatus::STATE_EJECTED;
    case upstream::Health::State::kTrial:
      return pb::EndpointStatus::STATE_TRIAL;
  }
  return pb::EndpointStatus::STATE_UNSPECIFIED;
}

}  // namespace

pb::EndpointStatus::State ToProto(EndpointStateChanged::State state) {
  switch (state) {
    case EndpointStateChanged::State::kActive:
      return pb::EndpointStatus::STATE_ACTIVE;
    case EndpointStateChanged::State::kDraining:
      return pb::EndpointStatus::STATE_DRAINING;
    case EndpointStateChanged::State::kRemoved:
      return pb::EndpointStatus::STATE_REMOVED;
    case EndpointStateChanged::State::kEjected:
      return pb::EndpointStatus::STATE_EJECTED;
    case EndpointStateChanged::State::kTrial:
      return pb::EndpointStatus::STATE_TRIAL;
  }
  return pb::EndpointStatus::STATE_UNSPECIFIED;
}

pb::KeyStatus::State ToProto(KeyStateChanged::State state) {
  switch (state) {
    case KeyStateChanged::State::kActive:
      return pb::KeyStatus::STATE_ACTIVE;
    case KeyStateChanged::State::kResting:
      return pb::KeyStatus::STATE_RESTING;
    case KeyStateChanged::State::kRefused:
      return pb::KeyStatus::STATE_REFUSED;
    case KeyStateChanged::State::kUnreadable:
      return pb::KeyStatus::STATE_UNREADABLE;
  }
  return pb::KeyStatus::STATE_UNSPECIFIED;
}

pb::EndpointStatus ToProto(const upstream::EndpointTable::Reading& reading,
                           const std::string& uri) {
  pb::EndpointStatus status;
  status.set_name(reading.name);
  status.set_uri(uri);
  status.set_state(StateOf(reading, !uri.empty()));
  status.set_in_flight(reading.in_flight);
  status.set_attempts(reading.attempts);
  status.set_failed_attempts(reading.failed_attempts);
  if (reading.health == upstream::Health::State::kEjected &&
      reading.ejected_until != absl::InfiniteFuture()) {
    *status.mutable_ejected_until() = ToProto(reading.ejected_until);
  }
  status.set_ejections(reading.ejections);
  status.set_consecutive_failures(reading.consecutive_failures);
  if (reading.last_failure.has_value()) {
    status.set_last_failure(std::string(InfoOf(*reading.last_failure).label));
  }
  if (reading.rests_until != absl::InfinitePast()) {
    *status.mutable_resting_until() = ToProto(reading.rests_until);
  }
  if (reading.first_frame > Duration::zero()) {
    *status.mutable_first_frame() = ToProto(reading.first_frame);
  }
  return status;
}

pb::KeyStatus ToProto(const upstream::KeyRing::Reading& reading) {
  pb::KeyStatus status;
  status.set_id(reading.id);
  status.set_state(ToProto(reading.state));
  if (reading.state == KeyStateChanged::State::kResting) {
    *status.mutable_until() = ToProto(reading.until);
  }
  return status;
}

}  // namespace sluice::server
