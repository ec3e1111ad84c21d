#include "lib/http/head_syntax.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include <boost/beast/http/basic_parser.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sluice::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using BeastError = beast::http::error;

absl::string_view ToAbsl(beast::string_view text) { return {text.data(), text.size()}; }

/// Beast's parser with its callbacks about bodies closed: it only ever sees heads.
template <bool kIsRequest>
class HeadOnlyParser : public beast::http::basic_parser<kIsRequest> {
 public:
  HeadOnlyParser() {
    this->skip(true);
    this->eager(true);
    this->header_limit(std::numeric_limits<uint32_t>::max());  // HeadScanner has the limits
  }

 private:
  void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int,
                       error_code&) override {}
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_field_impl(beast::http::field, beast::string_view, beast::string_view,
                     error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}
  size_t on_body_impl(beast::string_view, error_code&) override { return 0; }
  void on_chunk_header_impl(uint64_t, beast::string_view, error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view, error_code&) override { return 0; }
  void on_finish_impl(error_code&) override {}
};

class RequestHeadParser final : public HeadOnlyParser<true> {
 public:
  explicit RequestHeadParser(Request* request) : request_(request) {}

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, error_code&) override {
    request_->method = std::string(method);
    request_->target = std::string(target);
    request_->minor_version = version % 10;
  }
  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     error_code&) override {
    request_->headers.Add(ToAbsl(name), ToAbsl(value));
  }

  Request* request_;
};

class ResponseHeadParser final : public HeadOnlyParser<false> {
 public:
  explicit ResponseHeadParser(ResponseHead* response) : response_(response) {}

 private:
  void on_response_impl(int status, beast::string_view reason, int version, error_code&) override {
    response_->status = status;
    response_->reason = std::string(reason);
    response_->minor_version = version % 10;
  }
  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                     error_code&) override {
    response_->headers.Add(ToAbsl(name), ToAbsl(value));
  }

  ResponseHead* response_;
};

absl::string_view Describe(BeastError error) {
  switch (error) {
    case BeastError::bad_method:
      return "request line: malformed method";
    case BeastError::bad_target:
      return "request line: malformed target";
    case BeastError::bad_version:
      return "start line: malformed version";
    case BeastError::bad_status:
      return "status line: malformed status";
    case BeastError::bad_reason:
      return "status line: malformed reason";
    case BeastError::bad_field:
      return "header line: malformed name, or no colon after it";
    case BeastError::bad_value:
      return "header line: malformed value";
    case BeastError::bad_content_length:
      return "Content-Length: malformed, contradictory, or beside Transfer-Encoding";
    case BeastError::bad_transfer_encoding:
      return "Transfer-Encoding: repeated, or beside Content-Length";
    case BeastError::need_more:
      return "start line: too short";
    default:
      return "head: malformed";
  }
}

/// Whether `version` has the form of one, and is none that we speak.
bool IsForeignVersion(absl::string_view version) {
  return version.size() == 8 && absl::StartsWith(version, "HTTP/") &&
         absl::ascii_isdigit(version[5]) && version[6] == '.' && absl::ascii_isdigit(version[7]) &&
         version != "HTTP/1.0" && version != "HTTP/1.1";
}

/// The word of the start line that should be the version.
absl::string_view VersionWord(absl::string_view head, bool is_request) {
  const absl::string_view line = head.substr(0, head.find('\r'));
  return is_request ? line.substr(line.rfind(' ') + 1) : line.substr(0, line.find(' '));
}

template <bool kIsRequest>
absl::Status ToStatus(const error_code& error, absl::string_view head) {
  const auto kind = static_cast<BeastError>(error.value());
  if (kind != BeastError::bad_version) return absl::InvalidArgumentError(Describe(kind));
  if (absl::StartsWith(head, "PRI * HTTP/2.0\r\n")) {
    return absl::InvalidArgumentError("request line: HTTP/2 preface, only HTTP/1 is spoken here");
  }
  const absl::string_view version = VersionWord(head, kIsRequest);
  if (!IsForeignVersion(version)) return absl::InvalidArgumentError(Describe(kind));
  return absl::UnimplementedError(absl::StrCat("start line: version ", version,
                                               ", only HTTP/1.0 and HTTP/1.1 are spoken here"));
}

template <bool kIsRequest>
absl::Status Parse(absl::string_view head, HeadOnlyParser<kIsRequest>* parser) {
  error_code error;
  parser->put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (error) return ToStatus<kIsRequest>(error, head);
  if (!parser->is_done()) return absl::InvalidArgumentError("head: malformed");
  return absl::OkStatus();
}

template <bool kIsRequest>
absl::Status CheckStartLine(absl::string_view line) {
  HeadOnlyParser<kIsRequest> parser;
  error_code error;
  const size_t taken = parser.put(boost::asio::const_buffer(line.data(), line.size()), error);
  if (taken == line.size()) return absl::OkStatus();
  return ToStatus<kIsRequest>(error, line);
}

}  // namespace

absl::Status CheckRequestLine(absl::string_view line) { return CheckStartLine<true>(line); }

absl::Status CheckStatusLine(absl::string_view line) { return CheckStartLine<false>(line); }

absl::Status ParseRequestHead(absl::string_view head, Request* request) {
  RequestHeadParser parser(request);
  return Parse<true>(head, &parser);
}

absl::Status ParseResponseHead(absl::string_view head, ResponseHead* response) {
  ResponseHeadParser parser(response);
  return Parse<false>(head, &parser);
}

}  // namespace sluice::http
