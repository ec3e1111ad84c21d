#include "lib/exchange/message.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace sluice {

void HeaderList::Add(absl::string_view name, absl::string_view value) {
  fields_.push_back({std::string(name), std::string(value)});
}

const std::string* HeaderList::Find(absl::string_view name) const {
  for (const Header& field : fields_) {
    if (absl::EqualsIgnoreCase(field.name, name)) return &field.value;
  }
  return nullptr;
}

size_t HeaderList::Count(absl::string_view name) const {
  return std::count_if(fields_.begin(), fields_.end(), [name](const Header& field) {
    return absl::EqualsIgnoreCase(field.name, name);
  });
}

size_t HeaderList::Remove(absl::string_view name) {
  return std::erase_if(
      fields_, [name](const Header& field) { return absl::EqualsIgnoreCase(field.name, name); });
}

void HeaderList::Set(absl::string_view name, absl::string_view value) {
  bool placed = false;
  std::erase_if(fields_, [&](Header& field) {
    if (!absl::EqualsIgnoreCase(field.name, name)) return false;
    if (placed) return true;
    field.value = std::string(value);
    placed = true;
    return false;
  });
  if (!placed) Add(name, value);
}

bool HeaderList::HasToken(absl::string_view name, absl::string_view token) const {
  for (const Header& field : fields_) {
    if (!absl::EqualsIgnoreCase(field.name, name)) continue;
    for (const absl::string_view element : absl::StrSplit(field.value, ',')) {
      if (absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(element), token)) return true;
    }
  }
  return false;
}

absl::string_view Request::path() const {
  return absl::string_view(target).substr(0, target.find('?'));
}

absl::string_view ReasonPhrase(int status) {
  // clang-format off
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 402: return "Payment Required";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "";
  }
  // clang-format on
}

}  // namespace sluice
