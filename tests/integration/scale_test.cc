// Many streams on few threads.

#include <dirent.h>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/gateway_fixture.h"
#include "tests/support/chat_events.h"
#include "tests/support/fd_limit.h"

namespace sluice::testing {
namespace {

int CountEntries(const char* folder) {
  DIR* dir = ::opendir(folder);
  int count = -2;  // "." and ".."
  while (::readdir(dir) != nullptr) ++count;
  ::closedir(dir);
  return count;
}
int Threads() { return CountEntries("/proc/self/task"); }
int Descriptors() { return CountEntries("/proc/self/fd"); }

class ScaleTest : public GatewayFixture {};

TEST_F(ScaleTest, ServesTwoThousandSilentStreamsWithoutAThreadEach) {
  constexpr int kStreams = 2000;
  RaiseFdLimit();
  StartBoth();
  engine_->AnswerAll(
      Script().SseHead().Chunk(ContentEvent("a")).Gate("end").Chunk(kDoneEvent).LastChunk());
  // What is made lazily is made by now.
  engine_->Enqueue(Script().Json("{}"));
  ASSERT_EQ(Exchange(ChatRequest(false)).status, 200);
  const int threads_before = Threads();
  const int descriptors_before = Descriptors();

  std::vector<RawClient> clients;
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(Connect());
    ASSERT_TRUE(clients.back().Send(ChatRequest()).ok());
  }
  ASSERT_TRUE(engine_->WaitAtGate("end", kStreams));
  for (RawClient& client : clients) {
    ASSERT_TRUE(client.ReadHead().ok());
    ASSERT_EQ(client.ReadChunk().value_or(""), ContentEvent("a"));
  }
  EXPECT_EQ(gateway_->in_flight(), kStreams);
  EXPECT_GE(Descriptors(), descriptors_before + 4 * kStreams - 10)
      << "two ends of two connections each";
  EXPECT_EQ(Threads(), threads_before);

  engine_->OpenGate("end");
  for (RawClient& client : clients) {
    ASSERT_EQ(client.ReadChunk().value_or(""), kDoneEvent);
    ASSERT_EQ(client.ReadChunk().value_or("nothing"), "");
  }
  EXPECT_TRUE(Eventually([&] { return gateway_->in_flight() == 0; }));
  clients.clear();
  EXPECT_TRUE(engine_->WaitForOpenConnections(0));
  EXPECT_TRUE(Eventually([&] { return Descriptors() <= descriptors_before; }));
  EXPECT_EQ(Threads(), threads_before);
}

TEST_F(ScaleTest, KeepsNothingOfAThousandCancelledStreams) {
  constexpr int kStreams = 1000;
  constexpr int kAtOnce = 50;
  StartBoth();
  engine_->AnswerAll(Script().SseHead().Chunk(ContentEvent("a")).Hold());
  engine_->Enqueue(Script().Json("{}"));
  ASSERT_EQ(Exchange(ChatRequest(false)).status, 200);
  ASSERT_TRUE(engine_->WaitForOpenConnections(0));
  const int threads_before = Threads();
  const int descriptors_before = Descriptors();
  int descriptors_during = 0;
  for (int done = 0; done < kStreams; done += kAtOnce) {
    std::vector<RawClient> clients;
    for (int i = 0; i < kAtOnce; ++i) {
      clients.push_back(Connect());
      ASSERT_TRUE(clients.back().Send(ChatRequest()).ok());
    }
    for (RawClient& client : clients) ASSERT_TRUE(client.ReadHead().ok());
    descriptors_during = std::max(descriptors_during, Descriptors());
    for (int i = 0; i < kAtOnce; ++i) {
      if (i % 2 == 0) clients[i].Reset();
    }
  }
  EXPECT_TRUE(engine_->WaitForCancelled(kStreams));
  EXPECT_GT(descriptors_during, descriptors_before + kAtOnce);
  EXPECT_TRUE(Eventually([&] {
    return gateway_->in_flight() == 0 && Descriptors() <= descriptors_before;
  })) << Descriptors()
      << " descriptors, before " << descriptors_before;
  EXPECT_EQ(Threads(), threads_before);
}

}  // namespace
}  // namespace sluice::testing
