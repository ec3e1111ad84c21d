#ifndef SLUICE_LIB_EXCHANGE_MESSAGE_H_
#define SLUICE_LIB_EXCHANGE_MESSAGE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace sluice {

struct Header {
  std::string name;
  std::string value;
};

/// Header fields in wire order, duplicates kept (RFC 9110 section 5.3). Names match without regard
/// to ASCII case. Values hold no CR, LF or NUL: whoever parses refuses them.
class HeaderList {
 public:
  void Add(absl::string_view name, absl::string_view value);
  /// The first value of `name`, or null. Invalidated by any change.
  const std::string* Find(absl::string_view name) const;
  size_t Count(absl::string_view name) const;
  /// Removes every field of that name; returns how many there were.
  size_t Remove(absl::string_view name);
  /// Leaves exactly one field `name`, at the place of the first or else at the end.
  void Set(absl::string_view name, absl::string_view value);
  /// Whether the comma-separated list of all fields `name` holds `token` (RFC 9110 section 5.6.1).
  bool HasToken(absl::string_view name, absl::string_view token) const;

  size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }
  std::vector<Header>::const_iterator begin() const { return fields_.begin(); }
  std::vector<Header>::const_iterator end() const { return fields_.end(); }
  template <typename Predicate>
  void RemoveIf(Predicate drop) {
    std::erase_if(fields_, drop);
  }

 private:
  std::vector<Header> fields_;
};

/// A request as the client sent it. `target` is the raw origin-form (path and query, never
/// re-encoded).
struct Request {
  std::string method;
  std::string target;
  int minor_version = 1;  // HTTP/1.x
  HeaderList headers;
  std::string body;            // de-framed; not decoded
  std::string client_address;  // "127.0.0.1:54321"

  /// `target` up to the query.
  absl::string_view path() const;
};

/// Status line and headers of an answer.
struct ResponseHead {
  int status = 0;
  std::string reason;
  int minor_version = 1;
  HeaderList headers;
};

/// The standard phrase of a status (RFC 9110 section 15), or "" for one it does not know.
absl::string_view ReasonPhrase(int status);

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_MESSAGE_H_
