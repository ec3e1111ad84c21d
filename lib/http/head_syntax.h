#ifndef SLUICE_LIB_HTTP_HEAD_SYNTAX_H_
#define SLUICE_LIB_HTTP_HEAD_SYNTAX_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "lib/exchange/message.h"

/// The grammar of HTTP/1 heads, by Boost.Beast's strict parser. Takes what HeadScanner passed.
/// Errors of all: INVALID_ARGUMENT, the bytes are not HTTP/1 or Beast finds their framing
/// contradictory; UNIMPLEMENTED, the version is neither HTTP/1.0 nor HTTP/1.1. The message names
/// the part at fault.
namespace sluice::http {

/// A start line with its CR LF. Checking it as soon as it came answers a peer that does not speak
/// HTTP and waits.
absl::Status CheckRequestLine(absl::string_view line);
absl::Status CheckStatusLine(absl::string_view line);

/// A whole head with its blank line. Fills `*request`: method, target as sent, version, headers.
absl::Status ParseRequestHead(absl::string_view head, Request* request);
absl::Status ParseResponseHead(absl::string_view head, ResponseHead* response);

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_HEAD_SYNTAX_H_
