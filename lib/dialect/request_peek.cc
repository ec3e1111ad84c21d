#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "lib/dialect/dialect.h"
#include "lib/dialect/json.h"

namespace sluice::dialect {
namespace {

/// As for the names that routes may have.
constexpr size_t kMaxModelBytes = 256;

constexpr size_t kMaxUserBytes = 256;

/// Picks the members of the outermost object that say where a request goes. Stops, with `error`, at
/// what makes routing ambiguous.
class PeekHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, PeekHandler> {
 public:
  explicit PeekHandler(absl::string_view body) : body_(body) {}

  void Begin(const rapidjson::MemoryStream& source) {
    *this = PeekHandler(body_);
    source_ = &source;
  }

  bool Null() { return Scalar(member_ == Member::kStream); }
  bool Bool(bool value) {
    if (TopLevel() && member_ == Member::kStream) peek.stream = value;
    return Scalar(member_ == Member::kStream);
  }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return Scalar(false); }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    const absl::string_view value(text, length);
    if (TopLevel() && member_ == Member::kModel) peek.model = std::string(value);
    if (IsUser() && length <= kMaxUserBytes) peek.user = std::string(value);
    if (depth_ == 3 && key_is_role_ && value == "user") in_user_message_ = true;
    return Scalar(member_ == Member::kModel && length > 0);
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    const absl::string_view key(text, length);
    if (!TopLevel()) {
      key_is_role_ = depth_ == 3 && member_ == Member::kPrompt && key == "role";
      key_is_user_id_ = depth_ == 2 && member_ == Member::kMetadata && key == "user_id";
      return true;
    }
    key_end_ = source_->Tell();
    member_ = MemberOf(key);
    if (member_ == Member::kModel) return Meet(&saw_model);
    if (member_ == Member::kStream) return Meet(&saw_stream_);
    return true;
  }
  bool StartObject() { return Enter(); }
  bool EndObject(rapidjson::SizeType) {
    if (depth_ == 3 && std::exchange(in_user_message_, false) && peek.opening.empty()) {
      peek.opening = {ValueStart(), source_->Tell() + 1};
    }
    return Leave();
  }
  bool StartArray() { return depth_ > 0 && Enter(); }
  bool EndArray(rapidjson::SizeType) { return Leave(); }

  RequestPeek peek;
  bool saw_model = false;
  std::string error;

 private:
  enum class Member { kOther, kModel, kStream, kUser, kMetadata, kPreamble, kPrompt };

  static Member MemberOf(absl::string_view key) {
    if (key == "model") return Member::kModel;
    if (key == "stream") return Member::kStream;
    if (key == "user") return Member::kUser;
    if (key == "metadata") return Member::kMetadata;
    if (key == "system" || key == "instructions") return Member::kPreamble;
    if (key == "messages" || key == "prompt" || key == "input") return Member::kPrompt;
    return Member::kOther;
  }

  bool TopLevel() const { return depth_ == 1; }
  bool IsUser() const {
    return (TopLevel() && member_ == Member::kUser) || (depth_ == 2 && key_is_user_id_);
  }

  bool Meet(bool* seen) {
    if (*seen) error = absl::StrCat("`", Name(), "` is given twice");
    return !std::exchange(*seen, true);
  }

  /// A value starts; `right_kind` says whether the member it belongs to may have it, if that is
  /// `model` or `stream`.
  bool Value(bool right_kind) {
    const bool ours = member_ == Member::kModel || member_ == Member::kStream;
    if (!TopLevel() || !ours || right_kind) return true;
    error = absl::StrCat("`", Name(), "` must be ",
                         member_ == Member::kModel ? "a non-empty string" : "true or false");
    return false;
  }

  /// A whole value that is no container.
  bool Scalar(bool right_kind) {
    if (depth_ == 0 || !Value(right_kind)) return false;
    if (TopLevel()) NoteRange(source_->Tell());
    return true;
  }

  bool Enter() {
    if (depth_ > 0 && !Value(false)) return false;
    if (++depth_ > kMaxJsonDepth) error = "the body is nested too deeply";
    return depth_ <= kMaxJsonDepth;
  }
  bool Leave() {
    --depth_;
    if (TopLevel()) NoteRange(source_->Tell() + 1);
    return true;
  }

  /// The value of the member has ended before `end`.
  void NoteRange(size_t end) {
    if (member_ == Member::kModel) peek.model_value = {ValueStart(), end};
    if (member_ == Member::kPreamble) peek.preamble = {ValueStart(), end};
    if (member_ == Member::kPrompt) peek.prompt = {ValueStart(), end};
  }

  /// Where the value of the member begins: behind its key, the colon and blanks.
  size_t ValueStart() const { return body_.find_first_not_of(" \t\r\n:", key_end_); }

  const char* Name() const { return member_ == Member::kModel ? "model" : "stream"; }

  absl::string_view body_;
  const rapidjson::MemoryStream* source_ = nullptr;
  int depth_ = 0;                   // open objects and arrays
  Member member_ = Member::kOther;  // of the outermost object, the one being read
  size_t key_end_ = 0;              // of its key
  bool key_is_role_ = false;        // the last key read is that of a message
  bool key_is_user_id_ = false;     // the last key read is that of `metadata`
  bool in_user_message_ = false;
  bool saw_stream_ = false;
};

}  // namespace

absl::StatusOr<RequestPeek> PeekRequest(absl::string_view body) {
  PeekHandler handler(body);
  if (!ReadJson<Utf8::kUnchecked>(body, handler, ByteOrderMarkLength(body))) {
    return absl::InvalidArgumentError(
        handler.error.empty() ? "the body is not one whole JSON object" : handler.error);
  }
  if (!handler.saw_model) return absl::InvalidArgumentError("`model` is missing");
  if (handler.peek.model.size() > kMaxModelBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("`model` is longer than ", kMaxModelBytes, " bytes"));
  }
  if (!IsUtf8(handler.peek.model)) return absl::InvalidArgumentError("`model` is not UTF-8");
  return std::move(handler.peek);
}

}  // namespace sluice::dialect
