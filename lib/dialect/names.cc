#include "lib/dialect/dialect.h"

namespace sluice::dialect {
namespace {

struct Row {
  Dialect dialect;
  absl::string_view name;
  absl::string_view path;
};

constexpr Row kRows[] = {
    {Dialect::kOpenAiChat, "openai.chat", "/v1/chat/completions"},
    {Dialect::kOpenAiCompletions, "openai.completions", "/v1/completions"},
    {Dialect::kOpenAiResponses, "openai.responses", "/v1/responses"},
    {Dialect::kOpenAiEmbeddings, "openai.embeddings", "/v1/embeddings"},
    {Dialect::kAnthropicMessages, "anthropic.messages", "/v1/messages"},
};

}  // namespace

absl::string_view ToString(Dialect dialect) {
  for (const Row& row : kRows) {
    if (row.dialect == dialect) return row.name;
  }
  return "none";
}

Dialect DialectOfPath(absl::string_view path) {
  for (const Row& row : kRows) {
    if (row.path == path) return row.dialect;
  }
  return Dialect::kNone;
}

bool NeedsModel(Dialect dialect) { return dialect != Dialect::kNone; }

absl::string_view ToString(Terminal terminal) {
  switch (terminal) {
    case Terminal::kCleanDone:
      return "clean_done";
    case Terminal::kCleanEofWithoutDone:
      return "clean_eof_without_done";
    case Terminal::kErrorEvent:
      return "error_event";
    case Terminal::kTruncated:
      return "truncated";
  }
  return "";
}

}  // namespace sluice::dialect
