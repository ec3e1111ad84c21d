// The commands about the configuration, beside those of sluicectl_test.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"

#include "tests/admin/sluicectl_test.h"
#include "tests/support/temp_dir.h"

namespace sluice::admin {
namespace {

namespace v1 = ::sluice::control::v1;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ConfigCommandTest : public SluicectlTest {
 protected:
  ConfigCommandTest() {
    server_.config.set_etag("e1");
    server_.config.set_generation(1);
  }
};

TEST_F(ConfigCommandTest, GetAsksForAGeneration) {
  EXPECT_EQ(Run({"config", "get", "--generation", "7"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("\"generation\": \"7\""));
  EXPECT_EQ(Run({"config", "get", "--generation", "-7"}), ExitCode::kUsage);
  EXPECT_THAT(err(), HasSubstr("not a generation: -7"));
}

TEST_F(ConfigCommandTest, ValidateListsWhatIsWrongAndSaysSoInItsExitCode) {
  in_.str(R"({"pools":[{"id":"chat"}]})");
  EXPECT_EQ(Run({"config", "validate", "-"}), ExitCode::kOk);
  EXPECT_EQ(out(), "valid\n");
  EXPECT_THAT(server_.requests(), ElementsAre(R"(config { pools { id: "chat" } })"));

  v1::Violation* violation = server_.violations.add_violations();
  violation->set_field_path("pools[0].id");
  violation->set_description("is\nwrong");
  for (const auto& [format, text] : {std::pair("text", "pools[0].id: is\\x0awrong\n"),
                                     std::pair("json", R"({"violations":[{"field_path":)")}) {
    out_.str("");
    in_.clear();
    in_.str("{}");
    EXPECT_EQ(Run({"config", "validate", "-", "--output", format}), ExitCode::kInvalidConfig);
    EXPECT_THAT(out(), StartsWith(text));
  }
  in_.clear();
  in_.str("{");
  EXPECT_EQ(Run({"config", "validate", "-"}), ExitCode::kInvalidConfig);
  EXPECT_EQ(Run({"config", "validate", "/nowhere/at/all"}), ExitCode::kUsage);
}

TEST_F(ConfigCommandTest, PlanShowsALineForEachChangeAndWhoHoldsWhat) {
  const auto add = [this](v1::ConfigChange::Kind kind, const char* path, const char* before,
                          const char* after) {
    v1::ConfigChange* change = server_.plan.add_changes();
    change->set_kind(kind);
    change->set_path(path);
    change->set_before(before);
    change->set_after(after);
  };
  add(v1::ConfigChange::KIND_ADDED, "pools/chat/endpoints/b", "", R"({"id":"b"})");
  add(v1::ConfigChange::KIND_REMOVED, "routes/gpt-*", R"({"model":"gpt-*"})", "");
  add(v1::ConfigChange::KIND_CHANGED, "limits.max_in_flight", "10", "20");
  server_.plan.set_generation(12);
  server_.plan.set_etag("e12");
  for (const auto& [generation, exchanges] : {std::pair(12, 3), std::pair(9, 1)}) {
    v1::ConfigHolders* holders = server_.plan.add_holders();
    holders->set_generation(generation);
    holders->set_exchanges(exchanges);
  }
  in_.str("{}");
  EXPECT_EQ(Run({"config", "plan", "-"}), ExitCode::kOk);
  EXPECT_EQ(out(),
            "+ pools/chat/endpoints/b: {\"id\":\"b\"}\n"
            "- routes/gpt-*: {\"model\":\"gpt-*\"}\n"
            "~ limits.max_in_flight: 10 -> 20\n"
            "in force: generation 12, etag e12\n"
            "generation 12 is held by 3 running exchanges\n"
            "generation 9 is held by 1 running exchange\n");
  EXPECT_THAT(server_.requests(), ElementsAre(R"(config { } update_mask { paths: "*" })"));
}

TEST_F(ConfigCommandTest, PlanSaysWhenThereIsNothingToDo) {
  in_.str("{}");
  EXPECT_EQ(Run({"config", "plan", "-"}), ExitCode::kOk);
  EXPECT_THAT(out(), StartsWith("no changes\n"));
  in_.clear();
  in_.str("{}");
  out_.str("");
  EXPECT_EQ(Run({"config", "plan", "-", "--output=json"}), ExitCode::kOk);
  EXPECT_THAT(out(), HasSubstr("\"changes\":[]"));
}

TEST_F(ConfigCommandTest, ApplyTakesTheEtagOfAPlan) {
  in_.str(R"({"etag":"e0"})");
  EXPECT_EQ(Run({"config", "apply", "-", "--etag", "e12"}), ExitCode::kOk);
  EXPECT_EQ(server_.config_reads(), 0);
  ASSERT_EQ(server_.updates().size(), 1u);
  EXPECT_EQ(server_.updates()[0].config().etag(), "e12");
}

TEST_F(ConfigCommandTest, VersionsAreAnAlignedTable) {
  v1::ConfigVersion* version = server_.versions.add_versions();
  version->set_generation(12);
  version->mutable_create_time()->set_seconds(1767323045);
  version->set_exchanges(3);
  version->set_author("ann lee");
  version->set_origin("rollback to generation 9\x1b");
  version = server_.versions.add_versions();
  version->set_generation(9);
  version->set_author("--config");
  version->set_origin("start");
  EXPECT_EQ(Run({"config", "versions"}), ExitCode::kOk);
  EXPECT_EQ(out(),
            "GENERATION  TIME                 EXCHANGES  AUTHOR      ORIGIN\n"
            "        12  2026-01-02 03:04:05          3  ann\\x20lee  rollback to generation "
            "9\\x1b\n"
            "         9  1970-01-01 00:00:00          0  --config    start\n");
}

TEST_F(ConfigCommandTest, RollbackReadsTheEtagUnlessItIsGivenOne) {
  EXPECT_EQ(Run({"config", "rollback", "9"}), ExitCode::kOk);
  EXPECT_EQ(out(), "applied: generation 1, etag e1\n");
  EXPECT_EQ(Run({"config", "rollback", "9", "--etag", "e0"}), ExitCode::kOk);
  EXPECT_EQ(server_.config_reads(), 1);
  EXPECT_THAT(server_.requests(),
              ElementsAre(R"(generation: 9 etag: "e1")", R"(generation: 9 etag: "e0")"));
  EXPECT_EQ(Run({"config", "rollback", "nine"}), ExitCode::kUsage);
  server_.change_result = grpc::Status(grpc::StatusCode::NOT_FOUND, "generation 9 is not kept");
  EXPECT_EQ(Run({"config", "rollback", "9"}), ExitCode::kNotFound);
}

TEST_F(ConfigCommandTest, EndpointsAreAddedAndRemovedByOneCall) {
  EXPECT_EQ(Run({"endpoint", "add", "chat", "b", "http://h"}), ExitCode::kOk);
  EXPECT_EQ(Run({"endpoint", "remove", "pools/chat/endpoints/b", "--etag", "e"}), ExitCode::kOk);
  EXPECT_THAT(server_.requests(),
              ElementsAre(R"(pool: "chat" endpoint { id: "b" uri: "http://h" })",
                          R"(name: "pools/chat/endpoints/b" etag: "e")"));
  EXPECT_EQ(server_.config_reads(), 0);
  EXPECT_EQ(Run({"endpoint", "add", "chat", "b"}), ExitCode::kUsage);
  EXPECT_THAT(err(), HasSubstr("`endpoint add` needs POOL ID URI"));
  EXPECT_EQ(Run({"endpoint", "add", "chat", "b", "http://h", "more"}), ExitCode::kUsage);
}

TEST_F(ConfigCommandTest, AConfigurationThatCouldNotBeStoredIsNoLostServer) {
  v1::ErrorDetail detail;
  detail.set_reason("CONFIG_NOT_STORED");
  server_.change_result =
      FakeControlServer::Error(grpc::StatusCode::UNAVAILABLE, "no space left", detail);
  EXPECT_EQ(Run({"endpoint", "add", "chat", "b", "http://h"}), ExitCode::kError);
  EXPECT_THAT(err(), AllOf(HasSubstr("no space left"), Not(HasSubstr("--server"))));
}

// ---- edit

class ConfigEditTest : public ConfigCommandTest {
 protected:
  ConfigEditTest() {
    ::setenv("TMPDIR", dir_.path().c_str(), 1);
    server_.config.add_pools()->set_id("chat");
  }
  ~ConfigEditTest() override { ::unsetenv("TMPDIR"); }

  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  /// An editor that replaces `from` by `to`.
  static auto Replace(std::string from, std::string to) {
    return [from, to](const std::string&, const std::string& path) {
      const std::string text = absl::StrReplaceAll(Read(path), {{from, to}});
      std::ofstream(path) << text;
      return true;
    };
  }

  std::vector<std::string> FilesLeft() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      files.push_back(entry.path());
    }
    return files;
  }

  static grpc::Status Invalid() {
    v1::ErrorDetail detail;
    detail.set_reason("CONFIG_INVALID");
    detail.add_violations()->set_field_path("pools[0].id");
    return FakeControlServer::Error(grpc::StatusCode::INVALID_ARGUMENT, "wrong", detail);
  }

  testing::TempDirectory dir_;
};

TEST_F(ConfigEditTest, AppliesWhatWasEditedUnderTheEtagItWasReadWith) {
  edit_ = Replace("chat", "talk");
  EXPECT_EQ(Run({"config", "edit"}), ExitCode::kOk);
  ASSERT_EQ(server_.updates().size(), 1u);
  EXPECT_EQ(server_.updates()[0].config().pools(0).id(), "talk");
  EXPECT_EQ(server_.updates()[0].config().etag(), "e1");
  EXPECT_THAT(server_.updates()[0].update_mask().paths(), ElementsAre("*"));
  EXPECT_EQ(out(), "applied: generation 2, etag e2\n");
  EXPECT_THAT(FilesLeft(), IsEmpty());
}

TEST_F(ConfigEditTest, RunsTheEditorOfTheUser) {
  std::vector<std::string> editors;
  edit_ = [&](const std::string& editor, const std::string& path) {
    editors.push_back(editor);
    EXPECT_THAT(path, EndsWith(".json"));
    return true;
  };
  Run({"config", "edit"});
  variables_["EDITOR"] = "ed";
  Run({"config", "edit"});
  variables_["VISUAL"] = "code -w";
  Run({"config", "edit"});
  EXPECT_THAT(editors, ElementsAre("vi", "ed", "code -w"));
}

TEST_F(ConfigEditTest, SendsNothingThatWasNotEdited) {
  edit_ = [](const std::string&, const std::string&) { return true; };
  EXPECT_EQ(Run({"config", "edit"}), ExitCode::kOk);
  EXPECT_THAT(server_.updates(), IsEmpty());
  EXPECT_THAT(err(), HasSubstr("nothing was edited"));
  EXPECT_THAT(FilesLeft(), IsEmpty());
}

TEST_F(ConfigEditTest, LetsAnInvalidTextBeEditedAgain) {
  int rounds = 0;
  edit_ = [&](const std::string&, const std::string& path) {
    ++rounds;
    return Replace(rounds == 1   ? "\"chat\""
                   : rounds == 2 ? "}"
                                 : "bad",
                   rounds == 1   ? "\"bad\""
                   : rounds == 2 ? ""
                                 : "good")({}, path);
  };
  server_.update_results = {Invalid()};
  in_.str("\n");
  EXPECT_EQ(Run({"config", "edit"}), ExitCode::kInvalidConfig);
  EXPECT_EQ(rounds, 2);
  EXPECT_THAT(err(), AllOf(HasSubstr("pools[0].id: "), HasSubstr("is no configuration"),
                           HasSubstr("Your text is kept in ")));
  ASSERT_EQ(FilesLeft().size(), 1u);
  EXPECT_THAT(err(), HasSubstr(FilesLeft()[0]));
  EXPECT_THAT(Read(FilesLeft()[0]), HasSubstr("bad"));
}

TEST_F(ConfigEditTest, AppliesTheSecondTryUnderTheFirstEtag) {
  int rounds = 0;
  edit_ = [&](const std::string&, const std::string& path) {
    return ++rounds == 1 ? Replace("chat", "bad")({}, path) : Replace("bad", "good")({}, path);
  };
  server_.update_results = {Invalid()};
  in_.str("\n");
  EXPECT_EQ(Run({"config", "edit"}), ExitCode::kOk);
  ASSERT_EQ(server_.updates().size(), 2u);
  EXPECT_EQ(server_.updates()[1].config().pools(0).id(), "good");
  EXPECT_EQ(server_.updates()[1].config().etag(), "e1");
  EXPECT_EQ(server_.config_reads(), 1);
  EXPECT_THAT(FilesLeft(), IsEmpty());
}

TEST_F(ConfigEditTest, KeepsTheTextWhenSomebodyElseWasFaster) {
  edit_ = Replace("chat", "talk");
  server_.update_result = grpc::Status(grpc::StatusCode::ABORTED, "changed");
  EXPECT_EQ(Run({"config", "edit"}), ExitCode::kConflict);
  ASSERT_EQ(FilesLeft().size(), 1u);
  EXPECT_THAT(Read(FilesLeft()[0]), HasSubstr("talk"));
  EXPECT_THAT(err(), HasSubstr(FilesLeft()[0]));
}

TEST_F(ConfigEditTest, ChangesNothingWhenTheEditorFails) {
  edit_ = [](const std::string&, const std::string&) { return false; };
  EXPECT_EQ(Run({"config", "edit"}), ExitCode::kError);
  EXPECT_THAT(server_.updates(), IsEmpty());
  EXPECT_THAT(err(), HasSubstr("the editor failed"));
}

}  // namespace
}  // namespace sluice::admin
