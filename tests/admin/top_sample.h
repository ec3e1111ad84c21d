#ifndef SLUICE_TESTS_ADMIN_TOP_SAMPLE_H_
#define SLUICE_TESTS_ADMIN_TOP_SAMPLE_H_

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

#include "admin/top_model.h"

/// A server with three streams at two endpoints, for tests of `top`.
namespace sluice::admin {

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

inline constexpr char kStatus[] = R"(
  version: "0.1.0" boot_id: "b1" start_time { seconds: 1767312245 } in_flight: 3 accepted: 100
  config_generation: 4 watchers: 2 ring { capacity: 1000 size: 400 } )";
inline constexpr char kEndpoints[] = R"(
  endpoints { name: "pools/chat/endpoints/a" state: STATE_ACTIVE in_flight: 2 attempts: 90
              failed_attempts: 7 }
  endpoints { name: "pools/chat/endpoints/b" state: STATE_DRAINING in_flight: 1 attempts: 10 } )";
inline constexpr char kExchanges[] = R"(
  total_size: 3
  exchanges { id: "x0000000100000003" model: "beta" endpoint: "pools/chat/endpoints/b"
              phase: PHASE_HOLD age { seconds: 1 } }
  exchanges { id: "x0000000100000002" model: "alpha" endpoint: "pools/chat/endpoints/a"
              phase: PHASE_RELAY age { seconds: 20 } ttft { nanos: 300000000 } frames: 100
              since_last_piece { seconds: 5 } }
  exchanges { id: "x0000000100000001" model: "Gamma" endpoint: "pools/chat/endpoints/a"
              principal: "alice" phase: PHASE_RELAY age { seconds: 10 } ttft { nanos: 900000000 }
              frames: 200 since_last_piece { nanos: 10000000 }
              usage { prompt_tokens: 5 completion_tokens: 20 } } )";

inline TopSample SampleAt(std::chrono::seconds at) {
  return {.at = Instant() + at,
          .status = Parse<control::v1::ServerStatus>(kStatus),
          .endpoints = Parse<control::v1::ListEndpointsResponse>(kEndpoints),
          .exchanges = Parse<control::v1::ListExchangesResponse>(kExchanges)};
}

/// The last digits of the ids of the streams, in order.
inline std::string Order(const TopModel& model) {
  return absl::StrJoin(model.streams(), "", [](std::string* out, const TopModel::Stream& stream) {
    absl::StrAppend(out, stream.exchange->id().substr(16));
  });
}

}  // namespace sluice::admin

#endif  // SLUICE_TESTS_ADMIN_TOP_SAMPLE_H_
