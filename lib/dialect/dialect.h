#ifndef SLUICE_LIB_DIALECT_DIALECT_H_
#define SLUICE_LIB_DIALECT_DIALECT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "lib/exchange/cause.h"
#include "lib/exchange/exchange.h"
#include "lib/sse/splitter.h"

namespace sluice::dialect {

enum class Dialect {
  kNone,  // any other path: relayed, framed, usage read as in chat
  kOpenAiChat,
  kOpenAiCompletions,
  kOpenAiResponses,
  kOpenAiEmbeddings,
  kAnthropicMessages,
};

/// "openai.chat", ..., "none"; as the fixtures name them.
absl::string_view ToString(Dialect dialect);

/// By the path without its query: `/v1/chat/completions` and so on.
Dialect DialectOfPath(absl::string_view path);
/// Whether a request in this dialect must name a model.
bool NeedsModel(Dialect dialect);

/// Where in a body a value stands, [start, end).
struct ByteRange {
  size_t start = 0;
  size_t end = 0;
  bool empty() const { return start == end; }
  absl::string_view In(absl::string_view body) const { return body.substr(start, end - start); }
};

/// What routing needs from a request's body. The ranges are of members of the outermost object,
/// empty when it has none of the name.
struct RequestPeek {
  std::string model;
  bool stream = false;
  std::string user = "";       // `user` or `metadata.user_id`, if it has at most 256 bytes
  ByteRange model_value = {};  // with its quotes
  ByteRange preamble = {};     // `system` or `instructions`
  ByteRange prompt = {};       // `messages`, `prompt` or `input`
  ByteRange opening = {};      // of `prompt`: to the end of the first message of a user
};

/// Picks that out without building a document, whatever the size of the rest; it is not judged, but
/// for being JSON. INVALID_ARGUMENT, with a message that names the field: not one whole
/// JSON object, nested more than 65536 deep, `model` missing or not a non-empty UTF-8 string,
/// `stream` not a boolean (null is false), or either key twice.
absl::StatusOr<RequestPeek> PeekRequest(absl::string_view body);

/// `body`, of which `peek` is, with another model and every other byte as it was.
std::string RewriteModel(absl::string_view body, const RequestPeek& peek, absl::string_view model);

/// Hashes of the prompt's first 1, 2, 3, ... blocks of 1 KiB, as its bytes stand in `body`: a
/// prompt that goes on where another one ends has the hashes of the other first, whatever the rest
/// of the body says. The end of a prompt that fills no block is left out, as is what follows 256
/// blocks.
std::vector<uint64_t> PromptBlocks(absl::string_view body, const RequestPeek& peek);

/// A hash of what all turns of a conversation have in common: the preamble and the prompt to the
/// end of a user's first message; of a prompt without messages, its first block. Nothing without a
/// prompt.
std::optional<uint64_t> ConversationHash(absl::string_view body, const RequestPeek& peek);

/// The answer to `GET /v1/models`, as OpenAI gives it, or Anthropic.
std::string ModelsBody(bool anthropic, absl::Span<const std::string> models, absl::Time created);

/// The body of a streamed request that PeekRequest accepted, changed so that it asks for usage:
/// `stream_options.include_usage` is true, and every other byte as it was. Nothing when that is not
/// to be changed: the dialect has no such option, the body asks already, or what it has there is
/// neither a truth value nor null, which is for the engine to judge. Of a member given twice the
/// last one counts.
std::optional<std::string> AskForUsage(Dialect dialect, absl::string_view body);

/// What one frame means. After the end marker only `valid` can be true.
struct FrameView {
  bool valid = false;    // JSON (at most 65536 deep) or `[DONE]`; false if oversize, as unknown
  bool done = false;     // the dialect's end marker
  bool error = false;    // rule 5
  bool content = false;  // carries generated text, reasoning or a tool call
  bool usage_changed = false;  // a usable `usage` came, be it the same as before
  /// Of OpenAI's chat and completions: a `usage` object and no choices (`[]`), the chunk that
  /// `stream_options.include_usage` adds. False from an error on.
  bool usage_chunk = false;
};

enum class Terminal { kCleanDone, kCleanEofWithoutDone, kErrorEvent, kTruncated };
absl::string_view ToString(Terminal terminal);  // as the fixtures name them

struct UpstreamError {
  std::string message;
  std::string type;
  std::string code;
};

/// Follows one answer's frames: usage, finish, errors, the end, by the rules 2 to 8 of
/// tests/data/streams/README.md. Every FrameView is exact; a frame that differs from an earlier one
/// only in its generated text is recognised at a tenth of the cost of parsing it.
/// Thread-compatible.
class StreamReader {
 public:
  explicit StreamReader(Dialect dialect);
  ~StreamReader();
  StreamReader(StreamReader&&) noexcept;
  StreamReader& operator=(StreamReader&&) noexcept;

  FrameView Read(const sse::Frame& frame);

  const std::optional<Usage>& usage() const;
  /// Of choice 0; "" until one is reported.
  absl::string_view finish_reason() const;
  const UpstreamError* error() const;  // the first one, or null

  /// How the stream ended, if it ended here. `tail` is what sse::Splitter::tail says: an answer
  /// without an end marker is whole only if no event was cut off, or one that spells `[DONE]`.
  Terminal End(const std::optional<std::string>& tail) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What a whole JSON answer says.
struct BodyView {
  bool complete = false;               // the body is one whole JSON text; else the rest is empty
  std::optional<Usage> usage;          // empty when absent or malformed
  std::optional<UpstreamError> error;  // if it is one
};
BodyView ReadBody(Dialect dialect, absl::string_view body);

/// The JSON body of an answer the gateway makes itself, in the shape the path's dialect asks for
/// (OpenAI's for kNone): type from the table of causes, code = the cause's label.
std::string ErrorBody(Dialect dialect, Cause cause, absl::string_view message);

/// The SSE event that ends a committed stream: the same object as `data: ...` (OpenAI) or
/// `event: error` (Anthropic), with its blank line.
std::string ErrorEvent(Dialect dialect, Cause cause, absl::string_view message);

}  // namespace sluice::dialect

#endif  // SLUICE_LIB_DIALECT_DIALECT_H_
