#include "tests/support/recorded_streams.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "rapidjson/document.h"

namespace sluice::testing {
namespace {

using rapidjson::Value;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::abort();
  }
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

rapidjson::Document ReadJson(const std::string& path) {
  rapidjson::Document document;
  document.Parse(ReadFile(path).c_str());
  if (document.HasParseError()) {
    std::fprintf(stderr, "not JSON: %s\n", path.c_str());
    std::abort();
  }
  return document;
}

std::string TextOrEmpty(const Value& value) { return value.IsString() ? value.GetString() : ""; }

std::optional<int64_t> CountOrNone(const Value& value) {
  return value.IsNull() ? std::nullopt : std::optional<int64_t>(value.GetInt64());
}

RecordedStream::Event ReadEvent(const Value& json, const std::string& body) {
  RecordedStream::Event event;
  event.name = TextOrEmpty(json["event"]);
  event.start = json["start"].GetUint64();
  event.end = json["end"].GetUint64();
  event.valid = std::string(json["kind"].GetString()) != "other";
  bool first = true;
  for (const Value& span : json["data_spans"].GetArray()) {
    if (!first) event.data += '\n';
    first = false;
    event.data.append(body, span[0].GetUint64(), span[1].GetUint64() - span[0].GetUint64());
  }
  return event;
}

RecordedStream Load(const std::string& directory, const std::string& name,
                    const std::string& file) {
  const rapidjson::Document json = ReadJson(directory + name + ".expect.json");
  RecordedStream stream;
  stream.name = name;
  stream.body = ReadFile(directory + file);
  stream.dialect = json["dialect"].GetString();
  stream.content_type = json["content_type"].GetString();
  stream.http_status = json["http_status"].GetInt();
  stream.terminal = json["terminal"].GetString();
  stream.finish_reason = TextOrEmpty(json["finish_reason"]);
  stream.is_event_stream = !json["sse"].IsNull();
  if (json["on_done"].IsBool()) stream.on_done = json["on_done"].GetBool();
  if (const Value& first = json["first_frame_index"]; !first.IsNull()) {
    stream.first_frame_index = first.GetUint64();
  }
  stream.failover_before_commit =
      json["failover_ok_before_commit"].IsBool() && json["failover_ok_before_commit"].GetBool();
  for (const Value& event : json["events"].GetArray()) {
    stream.events.push_back(ReadEvent(event, stream.body));
  }
  for (const Value& range : json["valid_frames"].GetArray()) {
    stream.valid_ranges.emplace_back(range[0].GetUint64(), range[1].GetUint64());
  }
  if (const Value& usage = json["usage"]; usage.IsObject()) {
    stream.usage = Usage{usage["prompt_tokens"].GetInt64(), usage["completion_tokens"].GetInt64(),
                         usage["total_tokens"].GetInt64(), CountOrNone(usage["cached_tokens"]),
                         CountOrNone(usage["reasoning_tokens"])};
  }
  return stream;
}

std::vector<RecordedStream> LoadAll() {
  const std::string directory = std::string(SLUICE_TEST_DATA) + "/streams/";
  const rapidjson::Document index = ReadJson(directory + "index.json");
  std::vector<RecordedStream> streams;
  for (const Value& entry : index.GetArray()) {
    streams.push_back(Load(directory, entry["name"].GetString(), entry["file"].GetString()));
  }
  return streams;
}

}  // namespace

const std::vector<RecordedStream>& RecordedStreams() {
  static const auto& streams = *new std::vector<RecordedStream>(LoadAll());
  return streams;
}

const RecordedStream& RecordedStreamNamed(const std::string& name) {
  for (const RecordedStream& stream : RecordedStreams()) {
    if (stream.name == name) return stream;
  }
  std::fprintf(stderr, "no recorded stream is named %s\n", name.c_str());
  std::abort();
}

void PrintTo(const RecordedStream& stream, std::ostream* out) { *out << stream.name; }

}  // namespace sluice::testing
