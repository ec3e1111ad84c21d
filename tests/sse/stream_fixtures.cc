#include "tests/sse/stream_fixtures.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "rapidjson/document.h"

namespace sluice {
namespace {

using Json = rapidjson::Value;

[[noreturn]] void Die(absl::string_view why) {
  std::fprintf(stderr, "stream fixtures: %s\n", std::string(why).c_str());
  std::abort();
}

std::string ReadFile(absl::string_view name) {
  const std::string path = absl::StrCat(SLUICE_TEST_DATA, "/streams/", name);
  std::ifstream in(path, std::ios::binary);
  if (!in) Die(absl::StrCat("cannot read ", path));
  return {std::istreambuf_iterator<char>(in), {}};
}

rapidjson::Document ReadJsonFile(absl::string_view name) {
  const std::string text = ReadFile(name);
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  if (document.HasParseError()) Die(absl::StrCat("not JSON: ", name));
  return document;
}

/// A scalar as text; null is "".
std::string Text(const Json& value) {
  if (value.IsString()) return {value.GetString(), value.GetStringLength()};
  if (value.IsInt64()) return absl::StrCat(value.GetInt64());
  return "";
}

template <typename Number>
std::optional<Number> NumberOrNull(const Json& value) {
  if (value.IsNull()) return std::nullopt;
  return static_cast<Number>(value.GetInt64());
}

FixtureEvent EventOf(const Json& json, absl::string_view body) {
  FixtureEvent event;
  event.event = Text(json["event"]);
  event.start = json["start"].GetUint64();
  event.end = json["end"].GetUint64();
  event.earliest = json["earliest"].GetUint64();
  event.valid = Text(json["kind"]) != "other";
  for (const Json& span : json["data_spans"].GetArray()) {
    if (&span != json["data_spans"].Begin()) event.data += '\n';
    const uint64_t start = span[0].GetUint64();
    absl::StrAppend(&event.data, body.substr(start, span[1].GetUint64() - start));
  }
  if (Sha256Hex(event.data) != Text(json["data_sha256"])) Die("a payload differs from its digest");
  return event;
}

void ReadStreamKeys(const Json& json, Fixture& fixture) {
  for (const Json& event : json["events"].GetArray()) {
    fixture.events.push_back(EventOf(event, fixture.body));
  }
  for (const Json& range : json["valid_frames"].GetArray()) {
    fixture.valid_frames.emplace_back(range[0].GetUint64(), range[1].GetUint64());
  }
  fixture.strict_relay_bytes = json["strict_relay"]["bytes"].GetUint64();
  fixture.strict_relay_sha256 = Text(json["strict_relay"]["sha256"]);
  fixture.comments = json["sse"]["comments"].GetUint64();
  fixture.has_tail = json["tail"].IsObject();
  fixture.tail_reads_done = fixture.has_tail && json["tail"]["reads_done"].GetBool();
}

Fixture ReadFixture(const Json& row) {
  Fixture fixture;
  fixture.name = Text(row["name"]);
  fixture.dialect = Text(row["dialect"]);
  fixture.is_json = Text(row["file"]) == absl::StrCat(fixture.name, ".json");
  fixture.body = ReadFile(Text(row["file"]));
  if (Sha256Hex(fixture.body) != Text(row["sha256"]))
    Die(absl::StrCat(fixture.name, " was changed"));

  const rapidjson::Document json = ReadJsonFile(absl::StrCat(fixture.name, ".expect.json"));
  fixture.terminal = Text(json["terminal"]);
  fixture.finish_reason = Text(json["finish_reason"]);
  if (const Json& usage = json["usage"]; usage.IsObject()) {
    fixture.usage =
        Usage{usage["prompt_tokens"].GetInt64(), usage["completion_tokens"].GetInt64(),
              usage["total_tokens"].GetInt64(), NumberOrNull<int64_t>(usage["cached_tokens"]),
              NumberOrNull<int64_t>(usage["reasoning_tokens"])};
  }
  fixture.usage_event = NumberOrNull<size_t>(json["usage_event"]);
  if (const Json& error = json["error"]; error.IsObject()) {
    fixture.error = FixtureError{Text(error["message"]), Text(error["type"]), Text(error["code"]),
                                 NumberOrNull<size_t>(error["event"])};
  }
  fixture.first_frame = NumberOrNull<size_t>(json["first_frame_index"]);
  fixture.first_frame_is_error = json["first_frame_is_error"].GetBool();
  if (const Json& failover = json["failover_ok_before_commit"]; failover.IsBool()) {
    fixture.failover_ok_before_commit = failover.GetBool();
  }
  if (!fixture.is_json) ReadStreamKeys(json, fixture);
  return fixture;
}

std::vector<Fixture> FixturesOfKind(bool is_json) {
  std::vector<Fixture> chosen;
  for (const Fixture& fixture : Fixtures()) {
    if (fixture.is_json == is_json) chosen.push_back(fixture);
  }
  return chosen;
}

}  // namespace

const std::vector<Fixture>& Fixtures() {
  static const auto& fixtures = *[] {
    auto* all = new std::vector<Fixture>;
    const rapidjson::Document index = ReadJsonFile("index.json");
    for (const Json& row : index.GetArray()) all->push_back(ReadFixture(row));
    return all;
  }();
  return fixtures;
}

std::vector<Fixture> EventStreamFixtures() { return FixturesOfKind(false); }
std::vector<Fixture> JsonFixtures() { return FixturesOfKind(true); }

const Fixture& FixtureNamed(absl::string_view name) {
  for (const Fixture& fixture : Fixtures()) {
    if (fixture.name == name) return fixture;
  }
  Die(absl::StrCat("there is no ", name));
}

std::vector<absl::string_view> Pieces(absl::string_view body, size_t size) {
  std::vector<absl::string_view> pieces;
  for (; !body.empty(); body.remove_prefix(pieces.back().size())) {
    pieces.push_back(body.substr(0, size));
  }
  return pieces;
}

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest), sizeof(digest)});
}

}  // namespace sluice
