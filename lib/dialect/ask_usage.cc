#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

#include "lib/dialect/dialect.h"
#include "lib/dialect/json.h"

namespace sluice::dialect {
namespace {

constexpr absl::string_view kBlanks = " \t\r\n";  // RFC 8259 section 2

/// `text` in the place of the bytes [start, end); as a member, when it goes in front of others.
struct Edit {
  size_t start = 0;
  size_t end = 0;
  absl::string_view text;
  bool is_member = false;
};

/// Finds the one edit that makes `stream_options.include_usage` of the outermost object true.
class AskHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, AskHandler> {
 public:
  void Begin(const rapidjson::MemoryStream& source) {
    *this = AskHandler();
    source_ = &source;
  }

  bool Null() { return Unset("null"); }
  bool Bool(bool value) { return value ? Other() : Unset("false"); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) { return Other(); }
  bool String(const char*, rapidjson::SizeType, bool) { return Other(); }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    key_.assign(text, length);
    return true;
  }
  bool StartObject() {
    const size_t inside = source_->Tell() + 1;
    if (depth_ == 0) {
      edit_ = {inside, inside, R"("stream_options":{"include_usage":true})", true};
    } else if (AtOptions()) {
      in_options_ = true;
      edit_ = {inside, inside, R"("include_usage":true)", true};
    } else {
      Other();
    }
    ++depth_;
    return true;
  }
  bool EndObject(rapidjson::SizeType) { return Leave(); }
  bool StartArray() {
    Other();
    ++depth_;
    return true;
  }
  bool EndArray(rapidjson::SizeType) { return Leave(); }

  const std::optional<Edit>& edit() const { return edit_; }

 private:
  bool AtOptions() const { return depth_ == 1 && key_ == "stream_options"; }
  bool AtFlag() const { return depth_ == 2 && in_options_ && key_ == "include_usage"; }

  /// A value that means as much as none, spelt `literal`.
  bool Unset(absl::string_view literal) {
    const size_t end = source_->Tell();
    if (AtFlag()) {
      edit_ = {end - literal.size(), end, "true", false};
    } else if (AtOptions() && literal == "null") {
      edit_ = {end - literal.size(), end, R"({"include_usage":true})", false};
    } else {
      Other();
    }
    return true;
  }

  /// Any other value: where it is one of ours, it stays.
  bool Other() {
    if (AtFlag() || AtOptions()) edit_.reset();
    return true;
  }

  bool Leave() {
    if (--depth_ == 1) in_options_ = false;
    return true;
  }

  const rapidjson::MemoryStream* source_ = nullptr;
  int depth_ = 0;            // open objects and arrays
  bool in_options_ = false;  // the one open at depth 2 is the value of `stream_options`
  std::string key_;          // the last one read
  std::optional<Edit> edit_;
};

bool HasStreamOptions(Dialect dialect) {
  return dialect == Dialect::kOpenAiChat || dialect == Dialect::kOpenAiCompletions;
}

}  // namespace

std::optional<std::string> AskForUsage(Dialect dialect, absl::string_view body) {
  AskHandler handler;
  if (!HasStreamOptions(dialect) ||
      !ReadJson<Utf8::kUnchecked>(body, handler, ByteOrderMarkLength(body))) {
    return std::nullopt;
  }
  if (!handler.edit().has_value()) return std::nullopt;
  const Edit& edit = *handler.edit();
  const absl::string_view rest = body.substr(edit.end);
  const bool more_members = edit.is_member && rest[rest.find_first_not_of(kBlanks)] != '}';
  return absl::StrCat(body.substr(0, edit.start), edit.text, more_members ? "," : "", rest);
}

}  // namespace sluice::dialect
