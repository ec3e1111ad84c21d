#include "lib/dialect/answer_facts.h"

#include <cstdint>
#include <utility>

#include "lib/dialect/json.h"
#include "lib/dialect/json_path.h"

namespace sluice::dialect {
namespace {

/// The count that the member `path` of a `usage` object is.
std::optional<Count> CountAt(Path path) {
  switch (path) {
    case At(kPromptTokens):
      return Count::kPrompt;
    case At(kCompletionTokens):
      return Count::kCompletion;
    case At(kTotalTokens):
      return Count::kTotal;
    case At(kInputTokens):
      return Count::kInput;
    case At(kOutputTokens):
      return Count::kOutput;
    case At(kCacheCreationInputTokens):
      return Count::kCacheCreation;
    case At(kCacheReadInputTokens):
      return Count::kCacheRead;
    case At(kReasoningTokens):
      return Count::kReasoning;
    case At(kPromptTokensDetails, kCachedTokens):
      return Count::kPromptDetailsCached;
    case At(kCompletionTokensDetails, kReasoningTokens):
      return Count::kCompletionDetailsReasoning;
    case At(kInputTokensDetails, kCachedTokens):
      return Count::kInputDetailsCached;
    case At(kOutputTokensDetails, kReasoningTokens):
      return Count::kOutputDetailsReasoning;
    case At(kOutputTokensDetails, kThinkingTokens):
      return Count::kOutputDetailsThinking;
    default:
      return std::nullopt;
  }
}

bool IsGeneratedText(Path path) {
  switch (path) {
    case At(kChoices, kItem, kDelta, kContent):
    case At(kChoices, kItem, kDelta, kReasoning):
    case At(kChoices, kItem, kDelta, kReasoningContent):
    case At(kChoices, kItem, kDelta, kRefusal):
    case At(kChoices, kItem, kDelta, kToolCalls, kItem, kFunction, kArguments):
    case At(kChoices, kItem, kText):
    case At(kDelta):
    case At(kDelta, kPartialJson):
    case At(kDelta, kText):
    case At(kDelta, kThinking):
      return true;
    default:
      return false;
  }
}

bool IsFree(Path path) {
  return path == At(kCreated) || path == At(kObfuscation) || path == At(kSequenceNumber) ||
         IsGeneratedText(path);
}

class FactsHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, FactsHandler> {
 public:
  void Begin(const rapidjson::MemoryStream& source) {
    *this = FactsHandler();
    source_ = &source;
  }

  bool Null() { return Value(Kind::kNull, ""); }
  bool Bool(bool value) { return Value(Kind::kBool, value ? "true" : "false"); }
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    NoteFreeValue(Kind::kNumber, 0);
    return Value(Kind::kNumber, {text, length});
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    NoteFreeValue(Kind::kString, length);
    return Value(Kind::kString, {text, length});
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    if (!Followed()) return true;
    path_ = (path_ & ~Path{0xFF}) | NameOf({text, length});
    key_end_ = source_->Tell();
    return true;
  }
  bool StartObject() {
    Value(Kind::kObject, "");
    if (depth_ == 1 && facts_.root == Kind::kArray && root_items_ == 1) {
      // Its members count as the root's own.
      ++depth_;
      path_ = At(kOther);
      return true;
    }
    return Enter(kOther);
  }
  bool EndObject(rapidjson::SizeType members) {
    Leave();
    if (depth_ == 0) facts_.root_is_empty = members == 0;
    if (Followed() && path_ == At(kError)) facts_.error_is_empty = members == 0;
    if (Followed() && path_ == At(kChoices, kItem)) EndChoice();
    return true;
  }
  bool StartArray() {
    Value(Kind::kArray, "");
    return Enter(kItem);
  }
  bool EndArray(rapidjson::SizeType elements) {
    Leave();
    if (Followed() && path_ == At(kChoices)) facts_.choices_are_empty = elements == 0;
    return true;
  }

  AnswerFacts TakeFacts() { return std::move(facts_); }

 private:
  struct Choice {
    std::optional<int64_t> index;
    std::string finish_reason;
  };

  bool Followed() const { return depth_ <= kMaxPathLength; }

  bool Enter(Name first) {
    if (++depth_ > kMaxJsonDepth) return false;
    if (Followed()) path_ = path_ << 8 | first;
    return true;
  }

  void Leave() {
    if (Followed()) path_ >>= 8;
    --depth_;
    if (depth_ == 1 && facts_.root == Kind::kArray) path_ = At(kItem);
  }

  /// A value at path_: a scalar with its text, or the start of an object or array.
  bool Value(Kind kind, absl::string_view text) {
    if (!Followed()) return true;
    TakeCount(kind, text);
    const absl::string_view string = kind == Kind::kString ? text : absl::string_view();
    switch (path_) {
      case Path{0}:
        facts_.root = kind;
        break;
      case At(kItem):
        ++root_items_;
        break;
      case At(kObject):
        facts_.object.assign(string.data(), string.size());
        break;
      case At(kStatus):
        facts_.status.assign(string.data(), string.size());
        break;
      case At(kMessage):
        facts_.top.message.assign(text.data(), text.size());
        facts_.message_usage = UsageCounts();
        break;
      case At(kType):
        facts_.top.type.assign(text.data(), text.size());
        break;
      case At(kCode):
        facts_.top.code.assign(text.data(), text.size());
        break;
      case At(kError):
        facts_.error = kind;
        facts_.error_fields = ErrorFields();
        facts_.error_text.assign(string.data(), string.size());
        break;
      case At(kError, kMessage):
        facts_.error_fields.message.assign(text.data(), text.size());
        break;
      case At(kError, kType):
        facts_.error_fields.type.assign(text.data(), text.size());
        break;
      case At(kError, kCode):
        facts_.error_fields.code.assign(text.data(), text.size());
        break;
      case At(kErrorType):
        facts_.error_type.assign(text.data(), text.size());
        break;
      case At(kResponse, kError, kMessage):
        facts_.response_error.message.assign(text.data(), text.size());
        break;
      case At(kResponse, kError, kType):
        facts_.response_error.type.assign(text.data(), text.size());
        break;
      case At(kResponse, kError, kCode):
        facts_.response_error.code.assign(text.data(), text.size());
        break;
      case At(kResponse, kIncompleteDetails, kReason):
        if (kind == Kind::kString) facts_.incomplete_reason.emplace(text.data(), text.size());
        break;
      case At(kDelta, kStopReason):
        if (kind == Kind::kString) facts_.stop_reason.emplace(text.data(), text.size());
        break;
      case At(kUsage):
        facts_.usage_kind = kind;
        break;
      case At(kChoices):
        facts_.choices_are_empty = false;
        facts_.choices.reset();
        facts_.finished.reset();
        facts_.finish_reason.clear();
        facts_.finished_by_error = false;
        break;
      case At(kChoices, kItem):
        choice_ = Choice();
        break;
      case At(kChoices, kItem, kIndex):
        choice_.index = kind == Kind::kNumber ? ParseCount(text) : std::nullopt;
        break;
      case At(kChoices, kItem, kFinishReason):
        choice_.finish_reason.assign(string.data(), string.size());
        break;
      case At(kChoices, kItem, kDelta, kContent, kItem):
      case At(kChoices, kItem, kDelta, kToolCalls, kItem):
        facts_.tool_call = true;
        break;
      case At(kChoices, kItem, kDelta, kFunctionCall):
        if (kind == Kind::kObject) facts_.tool_call = true;
        break;
      case At(kContentBlock, kType):
        if (string == "tool_use") facts_.tool_call = true;
        break;
      default:
        break;
    }
    return true;
  }

  UsageCounts* UsageAt(Path path) {
    switch (path) {
      case At(kUsage):
        return &facts_.usage;
      case At(kResponse, kUsage):
        return &facts_.response_usage;
      case At(kMessage, kUsage):
        return &facts_.message_usage;
      default:
        return nullptr;
    }
  }

  void TakeCount(Kind kind, absl::string_view text) {
    if (UsageCounts* usage = UsageAt(path_)) *usage = UsageCounts();
    for (const int bits : {8, 16}) {
      UsageCounts* const usage = UsageAt(path_ >> bits);
      if (usage == nullptr) continue;
      const std::optional<Count> count = CountAt(path_ & ((Path{1} << bits) - 1));
      if (!count) continue;
      const std::optional<int64_t> number = kind == Kind::kNumber ? ParseCount(text) : std::nullopt;
      if (number) {
        usage->Set(*count, *number);
      } else if (kind == Kind::kNull) {
        usage->SetAbsent(*count);
      } else {
        usage->SetBad(*count);
      }
    }
  }

  void EndChoice() {
    const int64_t index = choice_.index.value_or(0);
    if (index >= static_cast<int64_t>(kMaxChoices)) return;
    facts_.choices.set(index);
    if (choice_.finish_reason.empty()) return;
    facts_.finished.set(index);
    facts_.finished_by_error |= choice_.finish_reason == "error";
    if (index == 0) facts_.finish_reason = std::move(choice_.finish_reason);
  }

  /// The value that `source_` has just passed, if it is free. `size`: of the decoded string.
  void NoteFreeValue(Kind kind, size_t size) {
    if (!Followed() || !IsFree(path_)) return;
    const bool generated = IsGeneratedText(path_);
    if (generated && kind == Kind::kString && size > 0) facts_.generated_text = true;
    // Between a key and its value there are only blanks and the colon.
    const absl::string_view before(source_->begin_, source_->Tell());
    FreeValue value;
    value.is_string = kind == Kind::kString;
    value.generated = generated;
    value.start = before.find_first_not_of(" \t\r\n:", key_end_) + (value.is_string ? 1 : 0);
    value.end = before.size() - (value.is_string ? 1 : 0);
    facts_.free_values.push_back(value);
  }

  AnswerFacts facts_;
  const rapidjson::MemoryStream* source_ = nullptr;
  int depth_ = 0;  // open objects and arrays
  Path path_ = 0;  // of the value being read, while it is not too long
  size_t key_end_ = 0;
  int64_t root_items_ = 0;
  Choice choice_;
};

}  // namespace

bool ReadAnswerFacts(absl::string_view text, AnswerFacts* facts) {
  FactsHandler handler;
  const bool whole = ReadJson<Utf8::kChecked>(text, handler);
  *facts = whole ? handler.TakeFacts() : AnswerFacts();
  return whole;
}

}  // namespace sluice::dialect
