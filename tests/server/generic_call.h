#ifndef SLUICE_TESTS_SERVER_GENERIC_CALL_H_
#define SLUICE_TESTS_SERVER_GENERIC_CALL_H_

#include <memory>
#include <string>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/support/byte_buffer.h"
#include "gtest/gtest.h"

namespace sluice::testing {

/// Calls a method that has no stub here, with an empty message. Returns the bytes of the answer.
inline std::string GenericCall(const std::shared_ptr<grpc::Channel>& channel,
                               const std::string& method) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const grpc::Slice empty;
  const auto call = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&empty, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  call->Finish(&answer, &status, nullptr);
  void* tag;
  bool ok;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  EXPECT_TRUE(status.ok()) << status.error_message();
  grpc::Slice slice;
  EXPECT_TRUE(answer.DumpToSingleSlice(&slice).ok());
  return std::string(slice.begin(), slice.end());
}

/// What gRPC's health service says: 1 is SERVING, 2 NOT_SERVING (grpc.health.v1).
inline int HealthOf(const std::shared_ptr<grpc::Channel>& channel) {
  return GenericCall(channel, "/grpc.health.v1.Health/Check").back();
}

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SERVER_GENERIC_CALL_H_
