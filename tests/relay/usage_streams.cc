#include "tests/relay/usage_streams.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace sluice::testing {
namespace {

using Members = std::vector<std::string>;

/// What the counts of a usage object are called.
struct Words {
  absl::string_view prompt;
  absl::string_view completion;
};
constexpr Words kOpenAi = {"prompt_tokens", "completion_tokens"};
constexpr Words kResponses = {"input_tokens", "output_tokens"};

constexpr absl::string_view kUnusable[] = {
    R"({"prompt_tokens":-1,"completion_tokens":2,"input_tokens":-1,"output_tokens":2})",
    R"({"prompt_tokens":1.5,"completion_tokens":2,"input_tokens":1.5,"output_tokens":2})",
    R"({"prompt_tokens":"7","completion_tokens":2,"input_tokens":"7","output_tokens":2})",
    R"({"prompt_tokens":1e30,"completion_tokens":2,"input_tokens":1e30,"output_tokens":2})",
    R"({"tokens":9})",
    "{}",
    "[]",
    "17",
};

/// JSON string text that no reader of usage may take for one.
constexpr absl::string_view kTexts[] = {
    "a",
    R"({\"usage\":{\"prompt_tokens\":999,\"completion_tokens\":999}})",
    R"(\"usage\":)",
    R"(\ndata: {\"usage\":{\"input_tokens\":999,\"output_tokens\":999}}\n\n)",
    "\xC3\xA9\xE2\x82\xAC",
    R"(\ud83d\ude00)",
};

class Maker {
 public:
  explicit Maker(uint64_t number) : random_(number) {
    line_end_ = Pick<absl::string_view>({"\n", "\r\n", "\r"});
    colon_ = Pick<absl::string_view>({": ", ":"});
  }

  UsageStream Make() {
    switch (Below(4)) {
      case 0:
        return MakeResponse();
      case 1:
        return MakeMessage();
      default:
        return MakeChoices();
    }
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Sometimes() { return Below(3) == 0; }
  template <typename T>
  T Pick(std::vector<T> of) {
    return of[Below(of.size())];
  }
  template <size_t n>
  absl::string_view OneOf(const absl::string_view (&of)[n]) {
    return of[Below(n)];
  }

  int64_t Tokens() {
    return static_cast<int64_t>(Sometimes() ? Below(3) : Below(uint64_t{1} << (1 + Below(40))));
  }

  std::string Object(Members members) {
    if (Sometimes()) members.push_back(R"("note":{"usage":{"prompt_tokens":999}})");
    std::shuffle(members.begin(), members.end(), random_);
    // A line end between members may be cut into two `data:` lines.
    return absl::StrCat("{", absl::StrJoin(members, Pick<std::string>({",", ", ", ",\n"})), "}");
  }

  void Add(absl::string_view name, absl::string_view data, std::optional<Usage> usage = {}) {
    std::string bytes;
    if (Below(8) == 0) absl::StrAppend(&bytes, ": usage", line_end_, line_end_);
    if (!name.empty()) absl::StrAppend(&bytes, "event", colon_, name, line_end_);
    for (size_t start = 0; start <= data.size();) {
      const size_t end = std::min(data.find('\n', start), data.size());
      absl::StrAppend(&bytes, "data", colon_, data.substr(start, end - start), line_end_);
      start = end + 1;
    }
    stream_.events.push_back({absl::StrCat(bytes, line_end_), std::move(usage)});
  }

  Usage NewUsage() {
    Usage usage;
    usage.prompt_tokens = Tokens();
    Grow(&usage);
    if (Sometimes()) usage.cached_tokens = Tokens();
    if (Sometimes()) usage.reasoning_tokens = Tokens();
    return usage;
  }
  /// By what an engine has generated since; its total is its own business.
  void Grow(Usage* usage) {
    usage->completion_tokens += Tokens();
    usage->total_tokens =
        usage->prompt_tokens + usage->completion_tokens + (tells_total_ ? total_more_ : 0);
  }

  std::string Text(const Usage& usage, const Words& words) {
    Members members = {absl::StrCat("\"", words.prompt, "\":", usage.prompt_tokens),
                       absl::StrCat("\"", words.completion, "\":", usage.completion_tokens)};
    if (tells_total_) members.push_back(absl::StrCat("\"total_tokens\":", usage.total_tokens));
    if (usage.cached_tokens.has_value()) {
      members.push_back(absl::StrCat("\"", words.prompt, "_details\":{\"cached_tokens\":",
                                     *usage.cached_tokens, ",\"audio_tokens\":0}"));
    } else if (Sometimes()) {
      members.push_back(absl::StrCat("\"", words.prompt, "_details\":null"));
    }
    if (usage.reasoning_tokens.has_value()) {
      members.push_back(absl::StrCat("\"", words.completion, "_details\":{\"reasoning_tokens\":",
                                     *usage.reasoning_tokens, "}"));
    }
    return Object(std::move(members));
  }

  /// Chat or text completions.
  UsageStream MakeChoices() {
    const bool chat = Below(2) == 0;
    stream_.path = chat ? "/v1/chat/completions" : "/v1/completions";
    stream_.manner =
        Pick<std::string>({"in a last chunk", "with the finish", "in every chunk",
                           "null, then in a last chunk", "null", "missing", "unusable"});
    const bool every = stream_.manner == "in every chunk";
    const bool nulls = stream_.manner.starts_with("null");
    Usage usage = NewUsage();
    const uint64_t contents = 1 + Below(6);
    for (uint64_t i = 0; i <= contents; ++i) {
      const bool finish = i == contents;
      const bool reports = every || (finish && stream_.manner == "with the finish");
      Members members = {R"("id":"t")"};
      members.push_back(absl::StrCat(R"("choices":[{"index":0,)",
                                     chat ? R"("delta":{"content":")" : R"("text":")",
                                     finish ? "" : OneOf(kTexts), chat ? "\"}" : "\"",
                                     R"(,"finish_reason":)", finish ? "\"stop\"" : "null", "}]"));
      if (reports) members.push_back(absl::StrCat("\"usage\":", Text(usage, kOpenAi)));
      if (nulls) members.push_back("\"usage\":null");
      Add("", Object(std::move(members)), reports ? std::optional(usage) : std::nullopt);
      if (every) Grow(&usage);
    }
    if (stream_.manner.ends_with("last chunk")) {
      Add("", Object({R"("choices":[])", absl::StrCat("\"usage\":", Text(usage, kOpenAi))}), usage);
    } else if (stream_.manner == "unusable") {
      Add("", Object({R"("choices":[])", absl::StrCat("\"usage\":", OneOf(kUnusable))}));
    }
    Add("", "[DONE]");
    return std::move(stream_);
  }

  UsageStream MakeResponse() {
    stream_.path = "/v1/responses";
    stream_.manner = Pick<std::string>({"completed", "incomplete", "null", "missing", "unusable"});
    Add("response.created",
        Object({R"("type":"response.created")", R"("response":{"usage":null})"}));
    for (uint64_t i = Below(5); i > 0; --i) {
      Add("response.output_text.delta",
          Object({R"("type":"response.output_text.delta")",
                  absl::StrCat(R"("delta":")", OneOf(kTexts), "\"")}));
    }
    const Usage usage = NewUsage();
    const bool reports = stream_.manner.ends_with("complete") || stream_.manner == "completed";
    const std::string name =
        absl::StrCat("response.", stream_.manner == "incomplete" ? "incomplete" : "completed");
    Members response = {R"("id":"r")"};
    if (reports) response.push_back(absl::StrCat("\"usage\":", Text(usage, kResponses)));
    if (stream_.manner == "null") response.push_back("\"usage\":null");
    if (stream_.manner == "unusable") {
      response.push_back(absl::StrCat("\"usage\":", OneOf(kUnusable)));
    }
    Add(name,
        Object({absl::StrCat(R"("type":")", name, "\""),
                absl::StrCat(R"("response":)", Object(std::move(response)))}),
        reports ? std::optional(usage) : std::nullopt);
    return std::move(stream_);
  }

  /// Anthropic's counts add up: each object replaces those it has.
  struct MessageCounts {
    int64_t input = 0;
    int64_t output = 0;
    int64_t created = 0;
    std::optional<int64_t> read;

    Usage Sum() const {
      Usage usage;
      usage.prompt_tokens = input + created + read.value_or(0);
      usage.completion_tokens = output;
      usage.total_tokens = usage.prompt_tokens + output;
      usage.cached_tokens = read;
      return usage;
    }
  };

  std::string MessageUsage(MessageCounts* counts, bool input) {
    Members members = {absl::StrCat("\"output_tokens\":", counts->output += Tokens())};
    if (input) members.push_back(absl::StrCat("\"input_tokens\":", counts->input = Tokens()));
    if (Sometimes()) {
      counts->created = Tokens();
      members.push_back(absl::StrCat("\"cache_creation_input_tokens\":", counts->created));
    }
    if (Sometimes()) {
      counts->read = Tokens();
      members.push_back(absl::StrCat("\"cache_read_input_tokens\":", *counts->read));
    }
    return absl::StrCat("\"usage\":", Object(std::move(members)));
  }

  UsageStream MakeMessage() {
    stream_.path = "/v1/messages";
    stream_.manner = Pick<std::string>({"start and delta", "start", "delta", "missing"});
    const bool at_start = stream_.manner.starts_with("start");
    const bool in_delta = stream_.manner.ends_with("delta");
    MessageCounts counts;
    Members message = {R"("id":"m")"};
    if (at_start) message.push_back(MessageUsage(&counts, true));
    Add("message_start",
        Object({R"("type":"message_start")",
                absl::StrCat(R"("message":)", Object(std::move(message)))}),
        at_start ? std::optional(counts.Sum()) : std::nullopt);
    for (uint64_t i = Below(5); i > 0; --i) {
      Add("content_block_delta",
          Object({R"("type":"content_block_delta")",
                  absl::StrCat(R"("delta":{"type":"text_delta","text":")", OneOf(kTexts), "\"}")}));
    }
    for (uint64_t i = 1 + Below(2); i > 0; --i) {
      Members members = {R"("type":"message_delta")", R"("delta":{"stop_reason":"end_turn"})"};
      if (in_delta) members.push_back(MessageUsage(&counts, Sometimes()));
      Add("message_delta", Object(std::move(members)),
          in_delta ? std::optional(counts.Sum()) : std::nullopt);
    }
    Add("message_stop", R"({"type":"message_stop"})");
    return std::move(stream_);
  }

  std::mt19937_64 random_;
  absl::string_view line_end_;
  absl::string_view colon_;
  const bool tells_total_ = Below(2) == 0;
  const int64_t total_more_ = static_cast<int64_t>(Below(2));
  UsageStream stream_;
};

}  // namespace

UsageStream MakeUsageStream(uint64_t number) { return Maker(number).Make(); }

}  // namespace sluice::testing
