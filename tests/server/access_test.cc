// Who may call what, over a real channel.

#include "server/access.h"

#include <fstream>
#include <map>
#include <openssl/sha.h>
#include <optional>
#include <sys/stat.h>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"

#include "lib/base/log.h"
#include "tests/server/control_fixture.h"
#include "tests/support/patience.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_authority.h"

namespace sluice::server {
namespace {

using ::sluice::testing::TestAuthority;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The role that each RPC needs; one without a row here fails a test.
const std::map<std::string, Role>& NeededRoles() {
  static const std::map<std::string, Role> roles = {
      {"ControlService/GetConfig", Role::kOperator},
      {"ControlService/ValidateConfig", Role::kOperator},
      {"ControlService/PlanConfig", Role::kOperator},
      {"ControlService/UpdateConfig", Role::kOperator},
      {"ControlService/ListConfigVersions", Role::kOperator},
      {"ControlService/RollbackConfig", Role::kOperator},
      {"ControlService/AddEndpoint", Role::kOperator},
      {"ControlService/UpdateEndpoint", Role::kOperator},
      {"ControlService/RemoveEndpoint", Role::kOperator},
      {"ControlService/DrainEndpoint", Role::kOperator},
      {"ControlService/ResumeEndpoint", Role::kOperator},
      {"ControlService/CancelExchange", Role::kOperator},
      {"ControlService/DrainServer", Role::kOperator},
      {"ObserverService/GetServerStatus", Role::kViewer},
      {"ObserverService/WatchEvents", Role::kViewer},
      {"ObserverService/ListEndpoints", Role::kViewer},
      {"ObserverService/ListExchanges", Role::kViewer},
      {"ObserverService/GetExchange", Role::kViewer},
      {"ObserverService/TailExchange", Role::kTailer},
      {"ObserverService/CheckLeaks", Role::kViewer},
      {"ObserverService/GetUsage", Role::kViewer},
  };
  return roles;
}

/// Every method of both services, as in "ControlService/GetConfig".
std::vector<std::string> AllMethods() {
  std::vector<std::string> methods;
  for (const char* name :
       {"sluice.control.v1.ControlService", "sluice.control.v1.ObserverService"}) {
    const auto* service =
        google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
    for (int i = 0; i < service->method_count(); ++i) {
      methods.push_back(absl::StrCat(service->name(), "/", service->method(i)->name()));
    }
  }
  return methods;
}

std::string HashOf(absl::string_view token) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash);
  return absl::BytesToHexString({reinterpret_cast<const char*>(hash), sizeof(hash)});
}

/// The token of "alice" is "alice-token".
std::string TokenLine(Role role, absl::string_view name) {
  return absl::StrCat(RoleName(role), " ", name, " ", HashOf(absl::StrCat(name, "-token")), "\n");
}

class AccessTest : public ControlServerTest {
 protected:
  AccessTest() {
    SetLogSink([this](absl::string_view line) {
      MutexLock lock(&mutex_);
      absl::StrAppend(&log_, line, "\n");
    });
  }
  ~AccessTest() override {
    server_ = nullptr;
    SetLogSink({});
  }

  /// The path of a file in this test's directory.
  std::string Write(const std::string& name, absl::string_view text) {
    const std::string path = absl::StrCat(directory_.path(), "/", name);
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0600);
    return path;
  }

  void StartWithRoles(absl::string_view roles) {
    ControlServer::Options options;
    options.access.roles = Write("roles", roles);
    Start(options);
  }

  void StartWithTls(absl::string_view roles, bool client_certificates) {
    ControlServer::Options options;
    const TestAuthority::Issued own = authority_.IssueForServer();
    options.access = {Write("cert.pem", own.certificate), Write("key.pem", own.key),
                      client_certificates ? Write("ca.pem", authority_.certificate()) : "",
                      Write("roles", roles)};
    Start(options);
  }

  /// Makes further calls with TLS, and with `own` as the client's certificate.
  void ConnectWithTls(const TestAuthority::Issued& own = {}) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    channel_ = grpc::CreateCustomChannel(
        absl::StrCat("127.0.0.1:", server_->port()),
        grpc::SslCredentials({authority_.certificate(), own.key, own.certificate}), arguments);
  }

  /// Calls `method` with an empty request. OK as soon as there is a response.
  grpc::Status CallTo(const std::string& method, const std::vector<std::string>& authorizations) {
    grpc::GenericStub stub(channel_);
    grpc::CompletionQueue queue;
    grpc::ClientContext context;
    for (const std::string& value : authorizations) context.AddMetadata("authorization", value);
    context.set_deadline(std::chrono::system_clock::now() + testing::kPatience);
    const auto call = stub.PrepareCall(&context, method, &queue);
    const auto wait = [&queue] {
      void* tag;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    const grpc::Slice nothing;
    grpc::ByteBuffer message(&nothing, 1);
    call->StartCall(nullptr);
    wait();
    call->WriteLast(message, grpc::WriteOptions(), nullptr);
    wait();
    call->Read(&message, nullptr);
    const bool answered = wait();
    if (answered) context.TryCancel();
    grpc::Status status;
    call->Finish(&status, nullptr);
    wait();
    return answered ? grpc::Status::OK : status;
  }
  grpc::Status CallWithToken(const std::string& method, const std::string& token) {
    return CallTo("/sluice.control.v1." + method, {"Bearer " + token});
  }
  grpc::Status CallWithoutToken(const std::string& method) {
    return CallTo("/sluice.control.v1." + method, {});
  }
  std::string log() {
    MutexLock lock(&mutex_);
    return log_;
  }

  testing::TempDirectory directory_;
  TestAuthority authority_;
  Mutex mutex_;
  std::string log_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(AccessTest, GivesEachRoleItsCallsAndNoMore) {
  StartWithRoles(TokenLine(Role::kViewer, "viewer") + TokenLine(Role::kTailer, "tailer") +
                 TokenLine(Role::kOperator, "operator"));
  for (const std::string& method : AllMethods()) {
    const auto needed = NeededRoles().find(method);
    ASSERT_NE(needed, NeededRoles().end()) << method << " has no row in the table";
    EXPECT_EQ(CallWithoutToken(method).error_code(), grpc::StatusCode::UNAUTHENTICATED) << method;
    for (const Role role : kRoles) {
      const std::string name(RoleName(role));
      const grpc::Status status = CallWithToken(method, name + "-token");
      if (role < needed->second) {
        EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << method;
        EXPECT_THAT(status.error_message(),
                    AllOf(HasSubstr(absl::StrCat(name, " is a ", name)),
                          HasSubstr(std::string(RoleName(needed->second)))));
      } else {
        EXPECT_NE(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << method << name;
        EXPECT_NE(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << method << name;
        EXPECT_NE(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << method << name;
      }
    }
  }
  EXPECT_EQ(NeededRoles().size(), AllMethods().size());
}

TEST_F(AccessTest, TakesOneKnownTokenOfTheBearerScheme) {
  StartWithRoles(TokenLine(Role::kOperator, "alice"));
  const std::string method = "/sluice.control.v1.ControlService/GetConfig";
  EXPECT_TRUE(CallTo(method, {"Bearer alice-token"}).ok());
  EXPECT_TRUE(CallTo(method, {"bearer alice-token"}).ok()) << "RFC 9110, 11.1: in any case";
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"Bearer alice-toke"},
                                             {"Bearer "},
                                             {"Bearer"},
                                             {""},
                                             {"alice-token"},
                                             {"Basic alice-token"},
                                             {"Bearer " + HashOf("alice-token")},
                                             {"Bearer " + std::string(4000, 'x')},
                                             {"Bearer alice-token", "Bearer alice-token"}}) {
    EXPECT_EQ(CallTo(method, wrong).error_code(), grpc::StatusCode::UNAUTHENTICATED)
        << ::testing::PrintToString(wrong);
  }
}

TEST_F(AccessTest, AuditsRefusalsWithoutTheToken) {
  StartWithRoles(TokenLine(Role::kViewer, "alice"));
  CallWithToken("ControlService/CancelExchange", "alice-token");
  EXPECT_THAT(log(), AllOf(HasSubstr("audit who=alice role=viewer from=ipv4:127.0.0.1:"),
                           HasSubstr("action=CancelExchange outcome=PERMISSION_DENIED")));
  CallWithToken("ControlService/GetConfig", "guessed-token");
  EXPECT_THAT(log(), HasSubstr("action=GetConfig outcome=UNAUTHENTICATED"));
  EXPECT_THAT(log(), Not(HasSubstr("alice-token")));
  EXPECT_THAT(log(), Not(HasSubstr("guessed-token")));
}

TEST_F(AccessTest, NamesTheCallerInWhatItChanges) {
  StartWithRoles(TokenLine(Role::kOperator, "alice"));
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer alice-token");
  pb::UpdateConfigRequest request;
  request.mutable_config()->set_etag(store_.Current()->etag());
  pb::Config updated;
  ASSERT_TRUE(control_->UpdateConfig(&context, request, &updated).ok());
  EXPECT_EQ(store_.Current()->version().by.author, "alice");
  EXPECT_THAT(log(), HasSubstr("audit who=alice role=operator"));
}

TEST_F(AccessTest, TakesAChangeOfTheRolesFileWithoutARestart) {
  StartWithRoles(TokenLine(Role::kViewer, "alice"));
  EXPECT_FALSE(CallWithToken("ControlService/GetConfig", "alice-token").ok());
  Write("roles", TokenLine(Role::kOperator, "alice"));
  EXPECT_TRUE(
      Eventually([&] { return CallWithToken("ControlService/GetConfig", "alice-token").ok(); }));
}

TEST_F(AccessTest, LeavesHealthAndReflectionOpen) {
  StartWithRoles(TokenLine(Role::kViewer, "alice"));
  EXPECT_TRUE(CallTo("/grpc.health.v1.Health/Check", {}).ok());
  EXPECT_TRUE(CallTo("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", {}).ok());
}

TEST_F(AccessTest, TakesTokensOverTls) {
  StartWithTls(TokenLine(Role::kOperator, "alice"), false);
  EXPECT_EQ(CallWithToken("ControlService/GetConfig", "alice-token").error_code(),
            grpc::StatusCode::UNAVAILABLE)
      << "in clear";
  ConnectWithTls();
  EXPECT_TRUE(CallWithToken("ControlService/GetConfig", "alice-token").ok());
  EXPECT_EQ(CallWithoutToken("ControlService/GetConfig").error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(AccessTest, TakesACertificateForItsCommonNameOrAnAlternativeName) {
  StartWithTls("tailer alice\noperator spiffe://here/bob\n", true);
  ConnectWithTls(authority_.Issue("alice"));
  EXPECT_EQ(CallWithoutToken("ObserverService/TailExchange").error_code(),
            grpc::StatusCode::INVALID_ARGUMENT)
      << "admitted";
  EXPECT_EQ(CallWithoutToken("ControlService/GetConfig").error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(log(), HasSubstr("audit who=alice role=tailer"));
  ConnectWithTls(authority_.Issue("someone", "URI:spiffe://here/bob"));
  EXPECT_TRUE(CallWithoutToken("ControlService/GetConfig").ok());
}

TEST_F(AccessTest, GivesACertificateThatIsNotListedNothing) {
  StartWithTls("operator alice\n" + TokenLine(Role::kOperator, "bob"), true);
  for (const char* name : {"eve", "bob", "Alice", "alice "}) {
    ConnectWithTls(authority_.Issue(name));
    const grpc::Status status = CallWithoutToken("ObserverService/GetServerStatus");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << name;
    EXPECT_THAT(status.error_message(), HasSubstr(name));
  }
}

TEST_F(AccessTest, LetsNobodyConnectWithoutACertificateOfTheAuthority) {
  StartWithTls("operator alice\n" + TokenLine(Role::kOperator, "bob"), true);
  ConnectWithTls();
  EXPECT_EQ(CallWithToken("ControlService/GetConfig", "bob-token").error_code(),
            grpc::StatusCode::UNAVAILABLE);
  const TestAuthority other;
  ConnectWithTls(other.Issue("alice"));
  EXPECT_EQ(CallWithoutToken("ControlService/GetConfig").error_code(),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(AccessTest, LetsATokenSpeakBeforeTheCertificate) {
  StartWithTls("viewer alice\n" + TokenLine(Role::kOperator, "bob"), true);
  ConnectWithTls(authority_.Issue("alice"));
  EXPECT_TRUE(CallWithToken("ControlService/GetConfig", "bob-token").ok());
  EXPECT_TRUE(CallWithoutToken("ObserverService/GetServerStatus").ok());
  EXPECT_EQ(CallWithToken("ObserverService/GetServerStatus", "wrong").error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(AccessTest, RefusesFilesThatCannotBeUsed) {
  const TestAuthority::Issued own = authority_.IssueForServer();
  const std::string cert = Write("cert.pem", own.certificate);
  const std::string key = Write("key.pem", own.key);
  const std::string roles = Write("roles", TokenLine(Role::kViewer, "alice"));
  const std::string other_key = Write("other.pem", authority_.IssueForServer().key);
  const std::string junk = Write("junk", "junk");
  const std::string names = Write("names", "viewer carol\n");
  struct Wrong {
    AccessOptions access;
    std::string word;
  };
  for (const Wrong& wrong : {Wrong{{junk, key, "", roles}, "--control_tls_cert: " + junk},
                             Wrong{{"/nowhere", key, "", roles}, "--control_tls_cert: /nowhere"},
                             Wrong{{cert, junk, "", roles}, "--control_tls_key: " + junk},
                             Wrong{{cert, other_key, "", roles}, "key values mismatch"},
                             Wrong{{cert, key, junk, roles}, "--control_client_ca: " + junk},
                             Wrong{{cert, key, "", junk}, "--control_roles: " + junk},
                             Wrong{{cert, key, "", "/nowhere"}, "--control_roles: /nowhere"},
                             Wrong{{cert, key, "", names}, "--control_client_ca"}}) {
    hub_ = std::make_unique<events::Hub>(events::Hub::Options{16});
    ControlServer::Options options;
    options.address = "127.0.0.1:0";
    options.access = wrong.access;
    const absl::Status status = ControlServer::Start(options, deps()).status();
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(wrong.word));
  }
}

TEST_F(AccessTest, RefusesToListenWhereStrangersComeIn) {
  hub_ = std::make_unique<events::Hub>(events::Hub::Options{16});
  ControlServer::Options options;
  options.address = "0.0.0.0:0";
  EXPECT_TRUE(absl::IsUnauthenticated(ControlServer::Start(options, deps()).status()));
}

}  // namespace
}  // namespace sluice::server
