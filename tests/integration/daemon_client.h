#ifndef SLUICE_TESTS_INTEGRATION_DAEMON_CLIENT_H_
#define SLUICE_TESTS_INTEGRATION_DAEMON_CLIENT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "tests/support/raw_client.h"

namespace sluice::testing {

inline RawClient Connect(uint16_t port) {
  absl::StatusOr<RawClient> client = RawClient::Connect(port);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

/// What a request on a connection of its own is answered; status 0: nothing.
inline RawResponse Ask(uint16_t port, const std::string& request) {
  RawClient client = Connect(port);
  EXPECT_TRUE(client.Send(request).ok());
  return client.ReadResponse().value_or(RawResponse());
}

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_INTEGRATION_DAEMON_CLIENT_H_
