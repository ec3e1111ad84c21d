#include "tests/relay/relay_test.h"

#include <fstream>
#include <openssl/sha.h>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "lib/base/log.h"

namespace sluice::relay {

Script GoodStream() {
  return Script().Head(200, kEventStreamType).Piece(kHello).Piece(kStop).Piece(kDone).End();
}

Usage Tokens(int64_t prompt, int64_t completion, int64_t total) {
  Usage usage;
  usage.prompt_tokens = prompt;
  usage.completion_tokens = completion;
  usage.total_tokens = total;
  return usage;
}

RelayTest::RelayTest() {
  SetLogSink([this](absl::string_view line) { log_.emplace_back(line); });
  observers_.Add(&registry_);
  observers_.Add(&observer_);
  Configure({"a"});
}

RelayTest::~RelayTest() {
  SetLogSink(nullptr);
  EXPECT_EQ(proxy_.in_flight(), 0);
  EXPECT_EQ(gate_.principals.Read("anonymous"), 0);
  EXPECT_EQ(gate_.pools.Read("chat"), 0);
  EXPECT_EQ(gate_.queues.Depth("chat"), 0u);
  for (const auto& sent : transport_.sent())
    EXPECT_TRUE(sent->closed) << sent->address.uri.authority;
  for (const absl::string_view id : {"a", "b", "c"}) {
    EXPECT_EQ(endpoints_.Read(absl::StrCat("pools/chat/endpoints/", id)).in_flight, 0);
  }
}

void RelayTest::Configure(std::initializer_list<absl::string_view> endpoints,
                          const std::function<void(config::Pool&)>& edit) {
  config::Config config;
  config.routes.push_back({"*", "chat"});
  config::Pool& pool = config.pools.emplace_back();
  pool.id = "chat";
  for (const absl::string_view id : endpoints) {
    pool.endpoints.push_back({std::string(id), absl::StrCat("http://", id, ".test:8000")});
  }
  if (edit) edit(pool);
  ConfigureAll(std::move(config));
}

void RelayTest::ConfigureAll(config::Config config) {
  const auto updated = store_.Update(std::move(config), store_.Current()->etag());
  ASSERT_TRUE(updated.ok()) << updated.status();
}

void RelayTest::RequireClientKeys(
    std::initializer_list<std::pair<absl::string_view, absl::string_view>> keys) {
  const std::string path = directory_.path() + "/client_keys";
  {
    std::ofstream file(path);
    for (const auto& [principal, key] : keys) {
      unsigned char hash[SHA256_DIGEST_LENGTH];
      SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), hash);
      file << principal << " "
           << absl::BytesToHexString(
                  absl::string_view(reinterpret_cast<const char*>(hash), sizeof(hash)))
           << "\n";
    }
  }
  client_keys_ = admission::ClientKeysFile::Open(path).value();
}

Request RelayTest::ChatRequest() {
  Request request;
  request.method = "POST";
  request.target = "/v1/chat/completions?trace=1";
  request.headers.Add("Host", "gateway.test");
  request.headers.Add("Content-Type", "application/json");
  request.body = R"({"model":"lantern-8b","stream":true,"messages":[]})";
  request.client_address = "192.0.2.7:5000";
  return request;
}

std::unique_ptr<Answer> RelayTest::Serve(Request request) {
  return proxy_.Serve(std::move(request), clock_.Now(), cancellation_);
}

Answer::Step RelayTest::Drive(Answer& answer) {
  while (true) {
    const Answer::Step step = answer.Next(sink_);
    if (step != Answer::Step::kMore) return step;
  }
}

Answer::Step RelayTest::Run(Request request) {
  const std::unique_ptr<Answer> answer = Serve(std::move(request));
  return Drive(*answer);
}

testing::RecordingSink RelayTest::RunApart(Request request) {
  testing::RecordingSink sink(transcript_);
  const std::unique_ptr<Answer> answer = Serve(std::move(request));
  while (answer->Next(sink) == Answer::Step::kMore) {
  }
  return sink;
}

const Exchange& RelayTest::finished() const {
  EXPECT_EQ(observer_.finished().size(), 1u) << transcript_.text();
  return observer_.finished().at(0);
}

std::string RelayTest::attempt_failures() const {
  std::string labels;
  for (const Attempt& attempt : finished().attempts) {
    absl::StrAppend(&labels, labels.empty() ? "" : " ",
                    attempt.failure ? InfoOf(*attempt.failure).label : "-");
  }
  return labels;
}

}  // namespace sluice::relay
