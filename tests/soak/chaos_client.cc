#include "tests/soak/chaos_client.h"

#include <chrono>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "tests/soak/chaos_engine.h"
#include "tests/support/chat_events.h"
#include "tests/support/raw_client.h"

namespace sluice::testing {
namespace {

enum class Manner {
  kReadsAll,
  kReadsSlowly,
  kFin,
  kReset,
  kHalfClose,
  kStrayBytes,
  kBeforeAnyByte
};

Manner MannerOf(uint64_t draw) {
  switch (draw % 12) {
    case 0:
      return Manner::kFin;
    case 1:
      return Manner::kReset;
    case 2:
      return Manner::kHalfClose;
    case 3:
      return Manner::kStrayBytes;
    case 4:
      return Manner::kBeforeAnyByte;
    case 5:
      return Manner::kReadsSlowly;
    default:
      return Manner::kReadsAll;
  }
}

}  // namespace

std::string FaultOf(absl::string_view body, uint64_t stream, bool whole) {
  uint64_t next = 0;
  bool done = false;
  bool error = false;
  for (const std::string& event : SplitEvents(body)) {
    if (!absl::EndsWith(event, "\n\n")) {
      return whole ? absl::StrCat("a whole answer ends inside an event: ", event) : "";
    }
    if (absl::StrContains(event, "\"error\"")) {
      if (error || done) return absl::StrCat("an error behind the end: ", event);
      error = true;
    } else if (event == kDoneEvent) {
      if (error || done) return "[DONE] behind the end";
      done = true;
    } else if (event == ContentEvent(absl::StrCat("s", stream, "-", next, ";"))) {
      if (error || done) return absl::StrCat("an event behind the end: ", event);
      ++next;
    } else if (!absl::StrContains(event, "finish_reason") && !absl::StrContains(event, "usage") &&
               event != "\n\n" && !absl::StartsWith(event, "data: {\"id\":\"t\",\"cho\n\n")) {
      return absl::StrCat("not event ", next, " of stream ", stream, ": ", event);
    }
  }
  if (whole && next > 0 && !done && !error) return "a whole answer without [DONE] or an error";
  return "";
}

std::string ChaosClient::Run(uint64_t stream) {
  const Manner manner = MannerOf(random_());
  absl::StatusOr<RawClient> client = RawClient::Connect(port_);
  if (!client.ok()) return absl::StrCat("cannot connect: ", client.status().ToString());
  const std::string request = ChatRequest(true, absl::StrCat(kStreamHeader, ": ", stream, "\r\n"));
  if (!client->Send(request).ok()) return "cannot send";
  if (manner == Manner::kBeforeAnyByte) {
    ++ends_["left before any byte"];
    client->Close();
    return "";
  }
  const absl::StatusOr<std::string> head = client->ReadHead();
  if (!head.ok()) return absl::StrCat("no head: ", head.status().ToString());
  if (!absl::StartsWith(*head, "HTTP/1.1 200")) {
    ++ends_[head->substr(9, 3)];
    return "";
  }
  const size_t leaves_after =
      manner == Manner::kReadsAll || manner == Manner::kReadsSlowly ? SIZE_MAX : 1 + random_() % 10;
  std::string body;
  for (size_t chunks = 0; chunks < leaves_after; ++chunks) {
    if (manner == Manner::kReadsSlowly) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const absl::StatusOr<std::string> chunk = client->ReadChunk();
    if (!chunk.ok()) {
      return absl::StrCat("stream ", stream, " broke without an end: ", chunk.status().ToString());
    }
    if (chunk->empty()) {
      ++ends_[absl::StrContains(body, "\"error\"") ? "error event" : "whole"];
      return FaultOf(body, stream, /*whole=*/true);
    }
    body += *chunk;
  }
  ++ends_["left"];
  switch (manner) {
    case Manner::kReset:
      client->Reset();
      break;
    case Manner::kHalfClose:
      client->HalfClose();
      (void)client->ReadToEnd();
      break;
    case Manner::kStrayBytes:
      (void)client->Send("GET / stray");
      client->Close();
      break;
    default:
      client->Close();
  }
  return FaultOf(body, stream, /*whole=*/false);
}

}  // namespace sluice::testing
