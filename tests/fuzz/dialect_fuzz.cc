// Whatever an upstream or a client sends, reading it ends well, and a frame that the reader
// recognised means what a new reader, which has to parse it, says.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "lib/dialect/dialect.h"
#include "lib/sse/splitter.h"
#include "tests/fuzz/pieces.h"

namespace sluice::dialect {
namespace {

/// What the stream means, as text.
template <typename Piece>
std::string Read(Dialect dialect, const std::vector<Piece>& pieces) {
  std::string out;
  sse::Splitter splitter;
  StreamReader reader(dialect);
  bool ended = false;
  bool failed = false;
  const auto see = [&](const sse::Frame& frame) {
    const FrameView view = reader.Read(frame);
    FUZZ_CHECK(!view.done || view.valid);
    FUZZ_CHECK(!ended || !(view.done || view.error || view.content || view.usage_changed ||
                           view.usage_chunk));
    if (!ended) {
      const FrameView fresh = StreamReader(dialect).Read(frame);
      FUZZ_CHECK(view.valid == fresh.valid && view.done == fresh.done);
      FUZZ_CHECK(view.error == fresh.error && view.content == fresh.content);
      FUZZ_CHECK(view.usage_changed == fresh.usage_changed);
      FUZZ_CHECK(view.usage_chunk == (fresh.usage_chunk && !failed));
    }
    failed |= view.error;
    ended |= view.done;
    absl::StrAppend(&out, view.valid, view.done, view.error, view.content, view.usage_changed, " ");
  };
  for (const Piece& piece : pieces) splitter.Feed(piece, see);
  splitter.Finish(see);
  absl::StrAppend(&out, ToString(reader.End(splitter.tail())), " ", reader.finish_reason());
  if (reader.error()) absl::StrAppend(&out, " ", reader.error()->message);
  if (reader.usage()) {
    FUZZ_CHECK(reader.usage()->prompt_tokens >= 0 && reader.usage()->total_tokens >= 0);
    absl::StrAppend(&out, " ", reader.usage()->total_tokens);
  }
  return out;
}

void CheckAsking(Dialect dialect, absl::string_view body, const RequestPeek& peek) {
  const std::optional<std::string> asking = AskForUsage(dialect, body);
  if (!asking.has_value()) return;
  const auto again = PeekRequest(*asking);
  FUZZ_CHECK(again.ok() && again->model == peek.model && again->stream == peek.stream);
  FUZZ_CHECK(!AskForUsage(dialect, *asking).has_value());
}

void CheckBody(Dialect dialect, absl::string_view body) {
  const BodyView view = ReadBody(dialect, body);
  FUZZ_CHECK(view.complete || !(view.usage.has_value() || view.error.has_value()));
  sse::Frame frame;
  frame.data = body;
  FUZZ_CHECK(!view.complete || StreamReader(dialect).Read(frame).valid);
  if (const auto peek = PeekRequest(body); peek.ok()) {
    FUZZ_CHECK(!peek->model.empty());
    CheckAsking(dialect, body, *peek);
  }

  const std::optional<UpstreamError> ours =
      ReadBody(dialect, ErrorBody(dialect, Cause::kInternal, body)).error;
  FUZZ_CHECK(ours.has_value());
}

}  // namespace
}  // namespace sluice::dialect

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sluice::dialect::Dialect;
  constexpr Dialect kDialects[] = {Dialect::kNone, Dialect::kOpenAiChat, Dialect::kOpenAiResponses,
                                   Dialect::kAnthropicMessages};
  const sluice::fuzz::CutInput input(data, size);
  const Dialect dialect = kDialects[input.flag(0) + 2 * input.flag(1)];
  const std::vector<absl::string_view> whole = {input.bytes()};
  FUZZ_CHECK(sluice::dialect::Read(dialect, whole) ==
             sluice::dialect::Read(dialect, input.pieces()));
  sluice::dialect::CheckBody(dialect, input.bytes());
  return 0;
}
