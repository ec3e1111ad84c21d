// Who may use the control port, with the real programs.

#include <fstream>
#include <iterator>
#include <memory>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/integration/daemon.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/scoped_env.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_authority.h"

namespace sluice::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSluicectl[] = SLUICE_BIN "/sluicectl";

struct Ended {
  int code;
  std::string out;
  std::string err;
};

Ended RunToEnd(const std::vector<std::string>& args) {
  ChildProcess child(args);
  const int code = child.WaitForExit();
  return {code, child.out(), child.err()};
}

class AccessProgramTest : public ::testing::Test {
 protected:
  AccessProgramTest() {
    const TestAuthority::Issued server = authority_.IssueForServer();
    cert_ = Write("cert.pem", server.certificate);
    key_ = Write("key.pem", server.key);
    ca_ = Write("ca.pem", authority_.certificate());
    const Ended made = RunToEnd({kSluicectl, "token", "new", "alice", "--role", "operator"});
    const std::vector<std::string> lines = absl::StrSplit(made.out, '\n');
    token_ = lines[0].substr(lines[0].rfind(' ') + 1);
    line_ = lines[1].substr(7);
    token_file_ = Write("token", token_ + "\n");
    roles_ = Write("roles", line_ + "\n");
  }

  std::string Write(const std::string& name, absl::string_view text) {
    const std::string path = absl::StrCat(directory_.path(), "/", name);
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0600);
    return path;
  }

  std::vector<std::string> TlsFlags() const {
    return {"--control=0.0.0.0:0", "--control_tls_cert=" + cert_, "--control_tls_key=" + key_,
            "--control_roles=" + roles_, "--audit_log=" + audit_log_};
  }

  void StartDaemon(const std::vector<std::string>& flags) {
    daemon_ = std::make_unique<Daemon>(flags);
    server_ = absl::StrCat("127.0.0.1:", daemon_->control_port());
  }

  Ended Sluicectl(std::vector<std::string> args) {
    args.insert(args.begin(), kSluicectl);
    args.insert(args.end(), {"--server", server_});
    return RunToEnd(args);
  }

  TempDirectory directory_;
  TestAuthority authority_;
  std::string cert_, key_, ca_, roles_, token_, token_file_, line_;
  const std::string audit_log_ = directory_.path() + "/audit.log";
  std::unique_ptr<Daemon> daemon_;
  std::string server_;
};

TEST_F(AccessProgramTest, RefusesToStartWhereStrangersComeInAndNamesTheFlags) {
  struct Wrong {
    std::vector<std::string> flags;
    std::string word;
  };
  const std::string open = "--control=0.0.0.0:0";
  const std::string local = "--control=127.0.0.1:0";
  for (const Wrong& wrong :
       {Wrong{{open}, "--control_roles"}, Wrong{{"--control=[::]:0"}, "--control_tls_cert"},
        Wrong{{"--control=localhost:0"}, "localhost does not count"},
        Wrong{{open, "--control_roles=" + roles_}, "--control_tls_cert"},
        Wrong{{open, "--control_tls_cert=" + cert_, "--control_tls_key=" + key_},
              "--control_roles"},
        Wrong{{local, "--control_tls_cert=" + cert_, "--control_roles=" + roles_},
              "--control_tls_key"},
        Wrong{{local, "--control_client_ca=" + ca_, "--control_roles=" + roles_},
              "--control_tls_cert"},
        Wrong{{local, "--control_roles=" + Write("bad", "king alice\n")}, "line 1"}}) {
    const Ended ended = RunToEnd(Daemon::Args(wrong.flags));
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(wrong.word));
  }
}

TEST_F(AccessProgramTest, RefusesToStartWithoutItsAuditLog) {
  const Ended ended =
      RunToEnd(Daemon::Args({"--control=127.0.0.1:0", "--audit_log=/nowhere/audit.log"}));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("--audit_log"), HasSubstr("/nowhere/audit.log")));
}

TEST_F(AccessProgramTest, SaysInItsOwnWordsThatThePortIsTaken) {
  const auto taken = ScriptedEngine::Start().value();
  const std::string address = absl::StrCat("127.0.0.1:", taken->port());
  const Ended ended = RunToEnd(Daemon::Args({"--control=" + address}));
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err, absl::StrCat("sluiced: cannot listen on ", address,
                                    " for the control plane: Address already in use\n"));
}

TEST_F(AccessProgramTest, TakesATokenOverTlsFromAFileOrTheEnvironment) {
  StartDaemon(TlsFlags());
  const Ended by_file = Sluicectl({"status", "--tls-ca", ca_, "--token-file", token_file_});
  EXPECT_EQ(by_file.code, 0) << by_file.err;
  const ScopedEnv token("SLUICE_TOKEN", token_);
  const ScopedEnv authorities("SLUICE_TLS_CA", ca_);
  EXPECT_EQ(Sluicectl({"config", "get"}).code, 0);
}

TEST_F(AccessProgramTest, TakesRenewedTlsFilesOnAHangUpUnlessTheyAreBroken) {
  StartDaemon(TlsFlags());
  const auto status = [&](const std::string& authorities) {
    return Sluicectl({"status", "--tls-ca", authorities, "--token-file", token_file_}).code;
  };
  ASSERT_EQ(status(ca_), 0);
  Write("cert.pem", "-----BEGIN CERTIFICATE-----\nthe disk was full\n");
  daemon_->child().Signal(SIGHUP);
  ASSERT_TRUE(daemon_->child().WaitForErr("the old ones stay in use")) << daemon_->child().err();
  EXPECT_EQ(status(ca_), 0);

  const TestAuthority other("other");
  const TestAuthority::Issued renewed = other.IssueForServer();
  const std::string other_ca = Write("other-ca.pem", other.certificate());
  Write("cert.pem", renewed.certificate);
  Write("key.pem", renewed.key);
  daemon_->child().Signal(SIGHUP);
  ASSERT_TRUE(daemon_->child().WaitForErr("the TLS files of the control port have changed"));
  EXPECT_EQ(status(other_ca), 0);
  EXPECT_EQ(status(ca_), 3);
}

TEST_F(AccessProgramTest, TakesRenewedTlsFilesByItself) {
  StartDaemon(TlsFlags());
  const TestAuthority other("other");
  const TestAuthority::Issued renewed = other.IssueForServer();
  const std::string other_ca = Write("other-ca.pem", other.certificate());
  Write("cert.pem", renewed.certificate);
  Write("key.pem", renewed.key);
  EXPECT_TRUE(Eventually([&] {
    return Sluicectl({"status", "--tls-ca", other_ca, "--token-file", token_file_}).code == 0;
  }));
}

TEST_F(AccessProgramTest, TellsWhoIsRefusedWhatToDo) {
  StartDaemon(TlsFlags());
  const Ended nobody = Sluicectl({"status", "--tls-ca", ca_});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.err, AllOf(HasSubstr("--token-file"), HasSubstr("SLUICE_TOKEN")));
  const Ended in_clear = Sluicectl({"status"});
  EXPECT_EQ(in_clear.code, 3);
  const Ended untrusted = Sluicectl({"status", "--tls-ca", "system", "--token-file", token_file_});
  EXPECT_EQ(untrusted.code, 3);
  EXPECT_THAT(untrusted.err, Not(HasSubstr("ssl_transport_security"))) << "gRPC's own line";
}

TEST_F(AccessProgramTest, LetsInWhoIsAddedWhileItRunsAndAuditsIt) {
  StartDaemon(TlsFlags());
  const Ended made = RunToEnd({kSluicectl, "token", "new", "bob"});
  const std::vector<std::string> lines = absl::StrSplit(made.out, '\n');
  const std::string token = Write("bob", lines[0].substr(lines[0].rfind(' ') + 1));
  Write("roles", absl::StrCat(line_, "\n", lines[1].substr(7), "\n"));
  const auto run = [&](const std::string& command) {
    return Sluicectl({command, "--tls-ca", ca_, "--token-file", token});
  };
  EXPECT_TRUE(Eventually([&] { return run("status").code == 0; }));
  const Ended refused = Sluicectl({"config", "get", "--tls-ca", ca_, "--token-file", token});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("bob is a viewer, and GetConfig needs the role operator"));
  std::ifstream file(audit_log_);
  const std::string audit(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(audit,
              AllOf(HasSubstr("\"who\":\"bob\",\"role\":\"viewer\""),
                    HasSubstr("\"action\":\"GetConfig\",\"outcome\":\"PERMISSION_DENIED\"")));
}

TEST_F(AccessProgramTest, TakesAClientCertificate) {
  Write("roles", "operator carol\n");
  std::vector<std::string> flags = TlsFlags();
  flags.push_back("--control_client_ca=" + ca_);
  StartDaemon(flags);
  const TestAuthority::Issued carol = authority_.Issue("carol");
  const Ended ended = Sluicectl({"config", "get", "--tls-ca", ca_, "--tls-cert",
                                 Write("carol.pem", carol.certificate), "--tls-key",
                                 Write("carol.key", carol.key)});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(Sluicectl({"config", "get", "--tls-ca", ca_}).code, 3) << "not even a connection";
}

TEST_F(AccessProgramTest, ChecksWhomTheServersCertificateIsFor) {
  const TestAuthority::Issued other = authority_.Issue("other", "DNS:gateway.example");
  Write("cert.pem", other.certificate);
  Write("key.pem", other.key);
  StartDaemon(TlsFlags());
  const std::vector<std::string> args = {"status", "--tls-ca", ca_, "--token-file", token_file_};
  EXPECT_EQ(Sluicectl(args).code, 3);
  std::vector<std::string> named = args;
  named.insert(named.end(), {"--tls-server-name", "gateway.example"});
  EXPECT_EQ(Sluicectl(named).code, 0);
}

}  // namespace
}  // namespace sluice::testing
