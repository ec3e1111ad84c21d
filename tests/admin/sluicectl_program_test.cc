#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/admin/fake_control_server.h"
#include "tests/support/child_process.h"
#include "tests/support/scoped_env.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using ::sluice::testing::ChildProcess;

constexpr char kProgram[] = SLUICE_BIN "/sluicectl";

/// One event, then silence until the watcher leaves.
grpc::Status SendOneAndHold(grpc::ServerContext* context, FakeControlServer::WatchWriter* writer) {
  v1::WatchEventsResponse response;
  response.add_events()->mutable_config_changed()->set_generation(1);
  writer->Write(response);
  while (!context->IsCancelled()) std::this_thread::yield();
  return grpc::Status::CANCELLED;
}

class SluicectlProgramTest : public ::testing::Test {
 protected:
  SluicectlProgramTest() {
    server_.watches.push_back(SendOneAndHold);
    server_.watches.push_back(SendOneAndHold);
  }
  FakeControlServer server_;
};

TEST_F(SluicectlProgramTest, WatchEndsCleanlyOnASignal) {
  for (const int number : {SIGINT, SIGTERM}) {
    ChildProcess watch({kProgram, "watch", "--server", server_.address()});
    ASSERT_TRUE(watch.WaitForOut("config_changed")) << watch.err();
    watch.Signal(number);
    EXPECT_EQ(watch.WaitForExit(), 0);
    EXPECT_EQ(watch.err(), "");
  }
}

TEST_F(SluicectlProgramTest, WatchEndsWhenItsPipeIsClosedEvenInSilence) {
  ChildProcess watch({kProgram, "watch", "--server", server_.address()});
  ASSERT_TRUE(watch.WaitForOut("config_changed")) << watch.err();
  watch.CloseOut();
  EXPECT_EQ(watch.WaitForExit(), 0);
  EXPECT_EQ(watch.err(), "");
}

TEST_F(SluicectlProgramTest, EditorHasItsSignals) {
  const testing::ScopedEnv editor("EDITOR", "kill -INT $$; :");
  ChildProcess edit({kProgram, "config", "edit", "--server", server_.address()});
  EXPECT_EQ(edit.WaitForExit(), 1);
  EXPECT_THAT(edit.err(), ::testing::HasSubstr("the editor failed"));
}

TEST_F(SluicectlProgramTest, InterruptsInTheEditorAreTheEditorsAlone) {
  const testing::ScopedEnv editor("EDITOR",
                                  "kill -INT $PPID; kill -INT $PPID; sed -i s/chat/talk/");
  server_.config.add_pools()->set_id("chat");
  ChildProcess edit({kProgram, "config", "edit", "--server", server_.address()});
  EXPECT_EQ(edit.WaitForExit(), 0) << edit.err();
  ASSERT_EQ(server_.updates().size(), 1u);
  EXPECT_EQ(server_.updates()[0].config().pools(0).id(), "talk");
}

TEST_F(SluicectlProgramTest, AnInterruptEndsTheWaitForStandardInput) {
  const std::string fifo = ::testing::TempDir() + "sluicectl_program_test_input";
  ::unlink(fifo.c_str());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  ChildProcess apply({"/bin/sh", "-c",
                      "exec " + std::string(kProgram) + " config apply - --server " +
                          server_.address() + " <" + fifo});
  const int input = ::open(fifo.c_str(), O_WRONLY | O_CLOEXEC);  // once the other side is open
  ASSERT_EQ(::write(input, "{}", 2), 2);
  int unread = 2;
  while (unread > 0) ASSERT_EQ(::ioctl(input, FIONREAD, &unread), 0);
  apply.Signal(SIGINT);
  EXPECT_EQ(apply.WaitForExit(), 1);
  ::close(input);
  EXPECT_THAT(apply.err(), ::testing::HasSubstr("interrupted, nothing was sent"));
  EXPECT_THAT(server_.updates(), ::testing::IsEmpty());
  ::unlink(fifo.c_str());
}

TEST_F(SluicectlProgramTest, ExitCodeReachesTheShell) {
  ChildProcess wrong({kProgram, "no-such"});
  EXPECT_EQ(wrong.WaitForExit(), 2);
  ChildProcess unreachable({kProgram, "status", "--server", "unix:/nowhere/control.sock"});
  EXPECT_EQ(unreachable.WaitForExit(), 3);
}

}  // namespace
}  // namespace sluice::admin
