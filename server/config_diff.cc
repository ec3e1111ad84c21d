#include "server/config_diff.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/reflection.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"

#include "server/proto_json.h"

namespace sluice::server {
namespace {

using control::v1::ConfigChange;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::TextFormat;
using ::google::protobuf::util::MessageDifferencer;

/// A duration or the like is one value, whatever fields it has.
bool IsValue(const FieldDescriptor& field) {
  return field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
         field.message_type()->file()->package() == "google.protobuf";
}

std::string Quoted(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  return ToJson(value, JsonLayout::kOneLine);
}

/// Whether it is a list whose elements are told apart by their first field.
bool HasElements(const FieldDescriptor& field) {
  return field.is_repeated() && field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
}

/// Of most lists another order means the same.
bool OrderMatters(const FieldDescriptor& list) {
  return list.name() == "fallbacks" || list.name() == "rates";
}

/// A value, or a list of words, in its JSON form.
std::string ValueText(const Message& message, const FieldDescriptor& field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field.is_repeated()) {
    const auto& words = reflection.GetRepeatedFieldRef<std::string>(message, &field);
    return absl::StrCat("[",
                        absl::StrJoin(words, ", ",
                                      [](std::string* out, const std::string& word) {
                                        absl::StrAppend(out, Quoted(word));
                                      }),
                        "]");
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(reflection.GetMessage(message, &field), JsonLayout::kOneLine);
    case FieldDescriptor::CPPTYPE_STRING:
      return Quoted(reflection.GetString(message, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return Quoted(reflection.GetEnum(message, &field)->name());
    default: {
      std::string text;
      TextFormat::PrintFieldValueToString(message, &field, -1, &text);
      return text;
    }
  }
}

/// The elements of a list by their first field, in its order. Where several have the same, as
/// routes for one model that differ in their headers, the second is "KEY#2" and so on.
class Elements {
 public:
  Elements(const Message& message, const FieldDescriptor& field) {
    const FieldDescriptor* key = field.message_type()->FindFieldByNumber(1);
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    std::map<std::string, int> seen;
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const Message& element = reflection.GetRepeatedMessage(message, &field, i);
      std::string name = element.GetReflection()->GetString(element, key);
      if (const int nth = ++seen[name]; nth > 1) absl::StrAppend(&name, "#", nth);
      in_order_.emplace_back(std::move(name), &element);
    }
    by_key_.insert(in_order_.begin(), in_order_.end());
  }

  const std::vector<std::pair<std::string, const Message*>>& in_order() const { return in_order_; }
  /// "a, b".
  std::string Keys() const {
    return absl::StrJoin(in_order_, ", ", [](std::string* out, const auto& element) {
      absl::StrAppend(out, element.first);
    });
  }
  /// Null when there is none.
  const Message* Find(const std::string& key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second;
  }

 private:
  std::vector<std::pair<std::string, const Message*>> in_order_;
  std::map<std::string, const Message*> by_key_;
};

class Differ {
 public:
  std::vector<ConfigChange> Take() { return std::move(changes_); }

  /// `path` names both messages; "" for the whole configuration.
  void Compare(const std::string& path, const Message& before, const Message& after) {
    if (MessageDifferencer::Equals(before, after)) return;
    const google::protobuf::Descriptor& type = *before.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (HasElements(field)) {
        CompareLists(absl::StrCat(path, path.empty() ? "" : "/", field.name()), field, before,
                     after);
        continue;
      }
      const std::string field_path = absl::StrCat(path, path.empty() ? "" : ".", field.name());
      if (field.is_repeated() || IsValue(field)) {
        CompareValues(field_path, field, before, after);
      } else {
        Compare(field_path, before.GetReflection()->GetMessage(before, &field),
                after.GetReflection()->GetMessage(after, &field));
      }
    }
  }

 private:
  void CompareLists(const std::string& path, const FieldDescriptor& field, const Message& before,
                    const Message& after) {
    const Elements old_elements(before, field);
    const Elements new_elements(after, field);
    for (const auto& [key, element] : old_elements.in_order()) {
      if (new_elements.Find(key) != nullptr) continue;
      Add(ConfigChange::KIND_REMOVED, absl::StrCat(path, "/", key),
          ToJson(*element, JsonLayout::kOneLine), "");
    }
    if (OrderMatters(field) && old_elements.Keys() != new_elements.Keys()) {
      Add(ConfigChange::KIND_CHANGED, path, old_elements.Keys(), new_elements.Keys());
    }
    for (const auto& [key, element] : new_elements.in_order()) {
      const std::string element_path = absl::StrCat(path, "/", key);
      if (const Message* old_element = old_elements.Find(key)) {
        Compare(element_path, *old_element, *element);
      } else {
        Add(ConfigChange::KIND_ADDED, element_path, "", ToJson(*element, JsonLayout::kOneLine));
      }
    }
  }

  void CompareValues(const std::string& path, const FieldDescriptor& field, const Message& before,
                     const Message& after) {
    const bool had = HasValue(before, field);
    const bool has = HasValue(after, field);
    const std::string old_text = had ? ValueText(before, field) : "";
    const std::string new_text = has ? ValueText(after, field) : "";
    if (old_text == new_text) return;
    Add(!had   ? ConfigChange::KIND_ADDED
        : !has ? ConfigChange::KIND_REMOVED
               : ConfigChange::KIND_CHANGED,
        path, old_text, new_text);
  }

  /// A field that cannot be absent has a value always, if only a zero or an empty list.
  static bool HasValue(const Message& message, const FieldDescriptor& field) {
    return !field.has_presence() || message.GetReflection()->HasField(message, &field);
  }

  void Add(ConfigChange::Kind kind, const std::string& path, const std::string& before,
           const std::string& after) {
    ConfigChange& change = changes_.emplace_back();
    change.set_kind(kind);
    change.set_path(path);
    change.set_before(before);
    change.set_after(after);
  }

  std::vector<ConfigChange> changes_;
};

}  // namespace

std::vector<ConfigChange> DiffConfigs(const control::v1::Config& before,
                                      const control::v1::Config& after) {
  Differ differ;
  differ.Compare("", before, after);
  return differ.Take();
}

}  // namespace sluice::server
