#include <bitset>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"

#include "lib/dialect/answer_facts.h"
#include "lib/dialect/dialect.h"
#include "lib/dialect/frame_shape.h"
#include "lib/dialect/json.h"
#include "lib/dialect/usage.h"

namespace sluice::dialect {
namespace {

/// A reason is a word; records keep no more of it.
constexpr size_t kMaxReasonBytes = 256;

bool SpellsDone(absl::string_view data) {
  constexpr absl::string_view kDone = "[DONE]";
  if (!data.empty() && data.front() == '{') return false;  // nearly all
  const size_t start = data.find_first_not_of(" \t");
  if (start == data.npos || data.substr(start, kDone.size()) != kDone) return false;
  return data.find_first_not_of(" \t", start + kDone.size()) == data.npos;
}

bool EndsWithDone(Dialect dialect) {
  return dialect != Dialect::kOpenAiResponses && dialect != Dialect::kAnthropicMessages;
}

}  // namespace

struct StreamReader::State {
  explicit State(Dialect d) : dialect(d), usage(d) {}

  void NoteError(UpstreamError found, FrameView* view);
  void ReadErrorLine(absl::string_view value, FrameView* view);
  void Interpret(const AnswerFacts& facts, FrameView* view);
  void InterpretChoices(const AnswerFacts& facts, FrameView* view);
  void InterpretResponse(const AnswerFacts& facts, FrameView* view);
  void InterpretMessage(const AnswerFacts& facts, FrameView* view);
  FrameView Parse(const sse::Frame& frame);
  void End(FrameView* view);
  void Finish(absl::string_view reason);
  bool AnswerIsWhole() const;

  Dialect dialect;
  UsageReader usage;
  std::bitset<kMaxChoices> choices;  // seen
  std::bitset<kMaxChoices> finished;
  std::string finish_reason;
  std::unique_ptr<const UpstreamError> error;
  bool ended = false;  // the end marker came: nothing counts after it
  bool any_event = false;
  FrameShape shape;
};

void StreamReader::State::NoteError(UpstreamError found, FrameView* view) {
  view->error = true;
  if (error == nullptr) error = std::make_unique<const UpstreamError>(std::move(found));
}

void StreamReader::State::ReadErrorLine(absl::string_view value, FrameView* view) {
  AnswerFacts facts;
  if (ended || !ReadAnswerFacts(value, &facts) || facts.root != Kind::kObject) return;
  if (facts.root_is_empty) return;
  const ErrorFields& fields = facts.error == Kind::kObject ? facts.error_fields : facts.top;
  NoteError(ToError(fields), view);
}

void StreamReader::State::End(FrameView* view) {
  ended = true;
  view->done = true;
}

void StreamReader::State::Finish(absl::string_view reason) {
  finished.set(0);
  finish_reason = ReplaceInvalidUtf8(reason.substr(0, kMaxReasonBytes));
}

void StreamReader::State::Interpret(const AnswerFacts& facts, FrameView* view) {
  view->content = facts.tool_call || facts.generated_text;
  switch (dialect) {
    case Dialect::kOpenAiResponses:
      InterpretResponse(facts, view);
      break;
    case Dialect::kAnthropicMessages:
      InterpretMessage(facts, view);
      break;
    default:
      InterpretChoices(facts, view);
      break;
  }
}

void StreamReader::State::InterpretChoices(const AnswerFacts& facts, FrameView* view) {
  choices |= facts.choices;
  finished |= facts.finished;
  if (!facts.finish_reason.empty()) {
    finish_reason =
        ReplaceInvalidUtf8(absl::string_view(facts.finish_reason).substr(0, kMaxReasonBytes));
  }
  if (facts.finished_by_error) NoteError({"", "finish_reason", ""}, view);
  view->usage_changed = usage.Take(facts.usage);
  view->usage_chunk =
      facts.usage_kind == Kind::kObject && facts.choices_are_empty && error == nullptr;
}

void StreamReader::State::InterpretResponse(const AnswerFacts& facts, FrameView* view) {
  view->usage_changed = usage.Take(facts.response_usage);
  if (facts.top.type == "response.completed") {
    Finish("completed");
    End(view);
  } else if (facts.top.type == "response.incomplete") {
    Finish(facts.incomplete_reason.value_or("incomplete"));
    End(view);
  }
}

void StreamReader::State::InterpretMessage(const AnswerFacts& facts, FrameView* view) {
  if (facts.top.type == "message_start") {
    view->usage_changed = usage.Take(facts.message_usage);
  } else if (facts.top.type == "message_delta") {
    view->usage_changed = usage.Take(facts.usage);
    if (facts.stop_reason) Finish(*facts.stop_reason);
  } else if (facts.top.type == "message_stop") {
    End(view);
  }
}

bool StreamReader::State::AnswerIsWhole() const {
  switch (dialect) {
    case Dialect::kOpenAiChat:
    case Dialect::kOpenAiCompletions:
      return choices.any() && (choices & ~finished).none();
    case Dialect::kOpenAiResponses:
    case Dialect::kAnthropicMessages:
      return finished.any();
    default:
      return any_event;
  }
}

FrameView StreamReader::State::Parse(const sse::Frame& frame) {
  FrameView view;
  AnswerFacts facts;
  view.valid = ReadAnswerFacts(frame.data, &facts);
  if (ended) return view;
  if (auto found = ErrorOf(facts, frame.event)) NoteError(*std::move(found), &view);
  if (facts.root != Kind::kObject) return view;
  Interpret(facts, &view);
  const bool finishes = facts.finished.any() || facts.stop_reason.has_value();
  if (view.error || view.done || view.usage_changed || view.usage_chunk || finishes) return view;
  shape.Learn(frame.data, facts);
  return view;
}

StreamReader::StreamReader(Dialect dialect) : state_(std::make_unique<State>(dialect)) {}
StreamReader::~StreamReader() = default;
StreamReader::StreamReader(StreamReader&&) noexcept = default;
StreamReader& StreamReader::operator=(StreamReader&&) noexcept = default;

FrameView StreamReader::Read(const sse::Frame& frame) {
  State& state = *state_;
  FrameView view;
  if (frame.error_line) {
    state.ReadErrorLine(frame.data, &view);
    return view;
  }
  state.any_event = true;
  if (SpellsDone(frame.data)) {
    view.valid = true;
    if (!state.ended && EndsWithDone(state.dialect)) state.End(&view);
    return view;
  }
  const bool named_error = frame.event == "error";
  if (!named_error && !state.ended) {
    if (const auto match = state.shape.Find(frame.data)) {
      view.valid = true;
      view.content = match->content;
      return view;
    }
  }
  return state.Parse(frame);
}

const std::optional<Usage>& StreamReader::usage() const { return state_->usage.usage(); }
absl::string_view StreamReader::finish_reason() const { return state_->finish_reason; }
const UpstreamError* StreamReader::error() const { return state_->error.get(); }

Terminal StreamReader::End(const std::optional<std::string>& tail) const {
  if (state_->error != nullptr) return Terminal::kErrorEvent;
  if (state_->ended) return Terminal::kCleanDone;
  const bool broken = tail.has_value() && !SpellsDone(*tail);
  return state_->AnswerIsWhole() && !broken ? Terminal::kCleanEofWithoutDone : Terminal::kTruncated;
}

}  // namespace sluice::dialect
