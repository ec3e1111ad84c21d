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

/// Picks the two members of the outermost object. Stops, with `error`, at what makes routing
/// ambiguous.
class PeekHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, PeekHandler> {
 public:
  void Begin(const rapidjson::MemoryStream&) { *this = PeekHandler(); }

  bool Null() { return Value(member_ == Member::kStream); }
  bool Bool(bool value) {
    if (TopLevel() && member_ == Member::kStream) stream = value;
    return Value(member_ == Member::kStream);
  }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return Value(false); }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    const bool wanted = member_ == Member::kModel && length > 0;
    if (TopLevel() && wanted) model.assign(text, length);
    return Value(wanted);
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    if (!TopLevel()) return true;
    const absl::string_view key(text, length);
    if (key == "model") return Meet(Member::kModel, &saw_model);
    if (key == "stream") return Meet(Member::kStream, &saw_stream_);
    member_ = Member::kOther;
    return true;
  }
  bool StartObject() { return (depth_ == 0 || Value(false)) && Enter(); }
  bool EndObject(rapidjson::SizeType) { return Leave(); }
  bool StartArray() { return Value(false) && Enter(); }
  bool EndArray(rapidjson::SizeType) { return Leave(); }

  std::string model;
  bool stream = false;
  bool saw_model = false;
  std::string error;

 private:
  enum class Member { kOther, kModel, kStream };

  bool TopLevel() const { return depth_ == 1; }

  bool Meet(Member member, bool* seen) {
    member_ = member;
    if (*seen) error = absl::StrCat("`", Name(), "` is given twice");
    return !std::exchange(*seen, true);
  }

  /// A value starts; `right_kind` says whether the member it belongs to may have it, if that is one
  /// of ours.
  bool Value(bool right_kind) {
    if (depth_ == 0) return false;
    if (!TopLevel() || member_ == Member::kOther || right_kind) return true;
    error = absl::StrCat("`", Name(), "` must be ",
                         member_ == Member::kModel ? "a non-empty string" : "true or false");
    return false;
  }

  bool Enter() {
    if (++depth_ > kMaxJsonDepth) error = "the body is nested too deeply";
    return depth_ <= kMaxJsonDepth;
  }
  bool Leave() {
    --depth_;
    return true;
  }

  const char* Name() const { return member_ == Member::kModel ? "model" : "stream"; }

  int depth_ = 0;
  Member member_ = Member::kOther;  // of the outermost object, the one being read
  bool saw_stream_ = false;
};

}  // namespace

absl::StatusOr<RequestPeek> PeekRequest(absl::string_view body) {
  PeekHandler handler;
  if (!ReadJson<Utf8::kUnchecked>(body, handler)) {
    return absl::InvalidArgumentError(
        handler.error.empty() ? "the body is not one whole JSON object" : handler.error);
  }
  if (!handler.saw_model) return absl::InvalidArgumentError("`model` is missing");
  if (handler.model.size() > kMaxModelBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("`model` is longer than ", kMaxModelBytes, " bytes"));
  }
  if (!IsUtf8(handler.model)) return absl::InvalidArgumentError("`model` is not UTF-8");
  return RequestPeek{std::move(handler.model), handler.stream};
}

}  // namespace sluice::dialect
