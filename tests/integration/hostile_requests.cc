#include "tests/integration/hostile_requests.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "tests/integration/hostile_draft.h"

namespace sluice::testing {
namespace {

struct Family {
  const char* name;
  int status;  // 0: it passes
  void (*spoil)(Draft&);
};

// The families of requests that are refused, by what two readers might disagree on.
const Family kRefused[] = {
    {"length and chunked", 400,
     [](Draft& d) {
       // Whichever a reader believes, the other one's body has the canary in front.
       d.sent_body = absl::StrCat("0\r\n\r\n", kSmuggled);
       d.Insert("Content-Length", d.random.OneOf({"0", "5", "3", "abc", "-1", "", "50"}));
       d.Insert("Transfer-Encoding",
                d.random.OneOf({"chunked", "Chunked", "identity", "x", "chunked, identity"}));
     }},
    {"two lengths", 400,
     [](Draft& d) {
       d.sent_body = std::string(kSmuggled);
       d.Insert("Content-Length", "0");
       d.Insert("Content-Length", d.random.OneOf({"0", "1", "37", "00"}));
     }},
    {"length that is no plain number", 400,
     [](Draft& d) {
       d.Insert("Content-Length", d.random.OneOf({"+3",
                                                  "-3",
                                                  "-0",
                                                  "3 3",
                                                  "3,3",
                                                  "3, 3",
                                                  "3;q=1",
                                                  "0x3",
                                                  "3a",
                                                  "3.0",
                                                  "1e1",
                                                  "\"3\"",
                                                  "",
                                                  "\xef\xbc\x93",
                                                  "18446744073709551617",
                                                  "99999999999999999999999999",
                                                  "3\xa0",
                                                  "\xc2\xa0"
                                                  "3",
                                                  "_3",
                                                  "1_0"}));
       d.sent_body = "abc";
     }},
    {"coding that is not chunked alone", 400,
     [](Draft& d) {
       d.Insert(
           "Transfer-Encoding",
           d.random.OneOf({"xchunked", "chunkedx", "chunked, chunked", "gzip, chunked",
                           "chunked, gzip", "identity", "identity, chunked", "chunked;q=1",
                           "\"chunked\"", "chunked,", ", chunked", "", "chunk ed", "chunked\xa0",
                           "cow", "'chunked'", "chunked identity", "chunked\tx"}));
       d.sent_body = "0\r\n\r\n";
     }},
    {"coding on two lines", 400,
     [](Draft& d) {
       d.Insert("Transfer-Encoding", d.random.OneOf({"chunked", "identity", "gzip", ""}));
       d.Insert("Transfer-Encoding", d.random.OneOf({"chunked", "identity", "x"}));
       d.sent_body = "0\r\n\r\n";
     }},
    {"blank before the colon", 400,
     [](Draft& d) {
       const std::string name =
           d.random.InAnyCase(d.random.OneOf({"Transfer-Encoding", "Content-Length", "X-A"}));
       d.InsertSent(absl::StrCat(name, d.random.OneOf({" ", "\t", "  "}), ": ",
                                 absl::StartsWithIgnoreCase(name, "T") ? "chunked" : "0", "\r\n"));
       d.sent_body = "0\r\n\r\n";
     }},
    {"blank before the name", 400,
     [](Draft& d) {
       d.InsertSent(absl::StrCat(d.random.OneOf({" ", "\t"}), d.random.InAnyCase("Content-Length"),
                                 ": 5\r\n"));
     }},
    {"folded line", 400,
     [](Draft& d) {
       d.InsertSent(absl::StrCat("X-A: v\r\n", d.random.OneOf({" ", "\t", "  "}),
                                 d.random.OneOf({"w", "Content-Length: 5", "chunked", ""}),
                                 "\r\n"));
     }},
    {"folded coding", 400,
     [](Draft& d) {
       d.InsertSent(absl::StrCat(d.random.InAnyCase("Transfer-Encoding"), ":\r\n",
                                 d.random.OneOf({" ", "\t"}), "chunked\r\n"));
       d.sent_body = "0\r\n\r\n";
     }},
    {"line that ends with LF alone", 400,
     [](Draft& d) {
       d.WithLength();
       d.InsertSent(
           absl::StrCat("X-A: v\n", d.random.OneOf({"", "Transfer-Encoding: chunked\r\n"})));
     }},
    {"CR inside a line", 400,
     [](Draft& d) {
       d.InsertSent(absl::StrCat(
           "X-A: v\r", d.random.OneOf({"w", "Content-Length: 5", "\r", " x", ":"}), "\r\n"));
     }},
    {"control byte in a value", 400,
     [](Draft& d) {
       const char byte = "\x00\x01\x07\x08\x0b\x0c\x0e\x1b\x1f\x7f"[d.random.Below(10)];
       d.InsertSent(absl::StrCat("X-A: a", std::string(1, byte), "b\r\n"));
     }},
    {"control byte in a framing value", 400,
     [](Draft& d) {
       const char byte = "\x00\x0b\x0c\x7f"[d.random.Below(4)];
       d.InsertSent(absl::StrCat(d.random.InAnyCase("Transfer-Encoding"), ": ",
                                 std::string(1, byte), "chunked\r\n"));
       d.sent_body = "0\r\n\r\n";
     }},
    {"name that is no token", 400,
     [](Draft& d) {
       static constexpr absl::string_view kBytes("\x00\x0b\x7f\xa0\xe9 \"(),/;<=>?@[\\]{}", 22);
       const char byte = kBytes[d.random.Below(kBytes.size())];
       d.InsertSent(absl::StrCat("Content", std::string(1, byte), "Length: 5\r\n"));
     }},
    {"line without a colon or a name", 400,
     [](Draft& d) {
       d.InsertSent(
           d.random.OneOf({"X-A\r\n", ": v\r\n", ":\r\n", "Transfer-Encoding chunked\r\n"}));
     }},
    {"chunk size that is no plain hexadecimal", 400,
     [](Draft& d) {
       d.WithBadChunks(absl::StrCat(
           d.random.OneOf({"0x3", "+3", "-3", " 3", "\t3", "3 ", "3xyz", "", "g", "3\xa0", "\"3\"",
                           "3,", "00000000000000003", "fffffffffffffffff", "_3", "3\v"}),
           "\r\nabc\r\n0\r\n\r\n"));
     }},
    {"chunk line that does not end with CR LF", 400,
     [](Draft& d) {
       d.WithBadChunks(d.random.OneOf({"3\nabc\r\n0\r\n\r\n", "3\rabc\r\n0\r\n\r\n", "0\n\n",
                                       "0\r\n\n", "0\r\r\n\r\n", "3\r\nabc\n0\r\n\r\n",
                                       "3\r\nabc\r0\r\n\r\n", "3\r\nabc0\r\n\r\n"}));
     }},
    {"chunk extension that is no text", 400,
     [](Draft& d) {
       d.WithBadChunks(absl::StrCat(
           "3;a", d.random.OneOf({"\n", "\rX", absl::string_view("\0", 1), "\x7f", "\v"}),
           "b\r\nabc\r\n0\r\n\r\n"));
     }},
    {"chunk extension too long", 400,
     [](Draft& d) {
       d.WithBadChunks(absl::StrCat("3;", std::string(257 + d.random.Below(5000), 'a'),
                                    "\r\nabc\r\n0\r\n\r\n"));
     }},
    {"chunk data longer or shorter than its size", 400,
     [](Draft& d) {
       d.WithBadChunks(d.random.OneOf({"3\r\nabcd\r\n0\r\n\r\n", "3\r\nab\r\n0\r\n\r\n",
                                       "3\r\nabcXX0\r\n\r\n", "5\r\n\r\n0\r\n\r\n"}));
     }},
    {"trailer", 400,
     [](Draft& d) {
       d.WithBadChunks(absl::StrCat(
           "0\r\n",
           d.random.InAnyCase(d.random.OneOf({"X-A: v", "Content-Length: 5", "Host: h",
                                              "Authorization: Bearer x", "Transfer-Encoding: x"})),
           "\r\n\r\n"));
     }},
    {"chunked in HTTP/1.0", 400,
     [](Draft& d) {
       d.version = "HTTP/1.0";
       d.WithChunks();
     }},
    {"no Host, two, or an odd one", 400,
     [](Draft& d) {
       const std::string odd =
           d.random.OneOf({"", "a@b", "a/b", "a,b", "a b", "http://a", "a:b", "a:123456", "[::1",
                           "a?b", "a#b", "a%00b", "::1", "a\\b"});
       if (d.random.Coin()) {
         d.Insert("Host", d.random.OneOf({"g", "h", "127.0.0.1", ""}));
       } else {
         for (Line& line : d.lines) {
           if (!absl::StartsWithIgnoreCase(line.sent, "host:")) continue;
           line.sent = d.random.Coin() ? "X-B: c\r\n" : absl::StrCat("Host: ", odd, "\r\n");
         }
       }
     }},
    {"request line with other blanks", 400,
     [](Draft& d) {
       switch (d.random.Below(5)) {
         case 0:
           d.method += d.random.OneOf({" ", "\t"});
           break;
         case 1:
           d.target += d.random.OneOf({" ", "\t", " x", " HTTP/1.1"});
           break;
         case 2:
           d.version += d.random.OneOf({" ", "\t", " x"});
           break;
         case 3:
           d.method = d.random.OneOf({" ", "\r\n", "\n", "\t"}) + d.method;
           break;
         case 4:
           d.line_end = d.random.OneOf({"\n", "\r", "\r\r\n", "\n\r\n"});
       }
     }},
    {"version that is not ours", 400,
     [](Draft& d) {
       d.version =
           d.random.OneOf({"HTTP/1.2", "HTTP/0.9", "HTTP/2.0", "HTTP/1.10", "http/1.1", "HTTP/01.1",
                           "HTTP/1", "HTTP/1.1.1", "HTP/1.1", "", "HTTP\\1.1"});
     }},
    {"method that is no token", 400,
     [](Draft& d) {
       d.method = d.random.OneOf({"", "G@T", "GET:", "\"GET\"", "G\x7fT", "P\xd6ST"});
     }},
    {"target in a form for others", 400,
     [](Draft& d) {
       d.target =
           d.random.OneOf({"*", "g:443", "https://g/", "ftp://g/", "//", "x", "http:///x",
                           "http://u@g/", "/a#b", "http://g:99999999/", "?x", "\\x", "http:/x"});
       if (d.target == "//") d.target = "http://g\\/";
       if (d.method == "OPTIONS") d.method = "GET";
     }},
    {"control byte in the target", 400,
     [](Draft& d) {
       const char byte = "\x00\x01\x0b\x0c\x7f"[d.random.Below(5)];
       d.target += std::string(1, byte);
     }},
    {"tunnel", 400, [](Draft& d) { d.method = "CONNECT"; }},
    {"expectation that is not ours", 400,
     [](Draft& d) {
       d.Insert("Expect", d.random.OneOf({"200-ok", "", "100-continue, x", "100"}));
     }},
    {"too many fields", 431,
     [](Draft& d) {
       for (size_t i = 0; i < 100; ++i) d.Insert("X-A", "v");
     }},
    {"line too long", 431,
     [](Draft& d) { d.Insert("X-A", std::string(8190 + d.random.Below(9000), 'a')); }},
    {"target too long", 414,
     [](Draft& d) { d.target += std::string(8190 + d.random.Below(9000), 'a'); }},
};

// Those that pass, in one form.
const Family kPassed[] = {
    {"canary as a body with a length", 0, [](Draft& d) { d.WithLength(); }},
    {"canary as a chunked body", 0, [](Draft& d) { d.WithChunks(); }},
    {"last chunk inside a body with a length", 0,
     [](Draft& d) { d.WithLength(absl::StrCat("0\r\n\r\n", kSmuggled)); }},
    {"length with leading zeros", 0,
     [](Draft& d) {
       d.Body(kSmuggled);
       d.Insert("Content-Length", absl::StrCat("000", kSmuggled.size()));
     }},
    {"names that resemble framing", 0,
     [](Draft& d) {
       d.WithLength();
       d.InsertPassed(d.random.OneOf({"Content_Length", "X-Content-Length", "Content-Length-X",
                                      "ContentLength", "Transfer_Encoding", "X-Transfer-Encoding",
                                      "Transfer-Encoding-X", "Content.Length"}),
                      d.random.OneOf({"0", "chunked", "5"}));
     }},
    {"escaped line ends in a value", 0,
     [](Draft& d) {
       d.WithLength();
       d.InsertPassed("X-A", "a%0d%0aTransfer-Encoding: chunked%0d%0a%0d%0aGET /smuggled HTTP/1.1");
     }},
    {"bytes over 127 in a value", 0,
     [](Draft& d) {
       d.WithChunks();
       d.InsertPassed("X-A", "\x80\x85\xa0\xc4\x8a\xff");
     }},
    {"framing named as a header of one hop", 0,
     [](Draft& d) {
       d.WithLength();
       d.Insert("Connection",
                d.random.OneOf({"Content-Length", "Host, Content-Length, x", "close, Host"}));
     }},
    {"header named as one of one hop", 0,
     [](Draft& d) {
       d.WithChunks();
       d.Insert("Connection", "keep-alive, X-Secret");
       d.Insert("X-Secret", "1");
       d.Insert(d.random.OneOf({"TE", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection"}),
                "x");
     }},
    {"upgrade", 0,
     [](Draft& d) {
       d.WithLength();
       d.Insert("Connection", "Upgrade, HTTP2-Settings");
       d.Insert("Upgrade", d.random.OneOf({"h2c", "websocket", "TLS/1.0"}));
       d.Insert("HTTP2-Settings", "AAMAAABkAAQAoAAAAAIAAAAA");
     }},
    {"target with a host", 0,
     [](Draft& d) {
       d.WithLength();
       d.target =
           absl::StrCat(d.random.InAnyCase("http"), "://", d.random.OneOf({"g", "h:1", "[::1]:80"}),
                        d.random.OneOf({"/smuggled", "?x=http://h/"}));
       d.passed_target = d.target.substr(d.target.find_first_of("/?", 7));
       if (d.passed_target[0] == '?') d.passed_target.insert(0, "/");
     }},
    {"names that httplib gives a meaning", 0,
     [](Draft& d) {
       d.WithLength();
       d.Insert(d.random.OneOf({"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR", "LOCAL_PORT"}),
                "10.0.0.1");
       d.InsertPassed("X-Forwarded-For", d.random.OneOf({"10.0.0.1", ",", "", "a, b"}));
     }},
    {"multipart with a name that regular expressions dread", 0,
     [](Draft& d) {
       d.InsertPassed("Content-Type", "multipart/form-data; boundary=b");
       d.WithChunks(
           absl::StrCat("--b\r\nContent-Disposition: form-data; name=\"a\"; filename*=UTF-8''",
                        std::string(3000, 'a'), "\r\n\r\n", kSmuggled, "\r\n--b--\r\n"));
     }},
    {"coded body", 0,
     [](Draft& d) {
       d.InsertPassed("Content-Encoding", d.random.OneOf({"gzip", "br", "zstd", "x, y"}));
       d.WithChunks(absl::StrCat("\x1f\x8b\x08", kSmuggled));
     }},
    {"odd ranges and preferences", 0,
     [](Draft& d) {
       d.WithLength();
       d.InsertPassed("Range", "bytes=0-0,-1");
       d.InsertPassed("Accept", "*/*;q=x,;,");
     }},
    {"double slashes, dots and escapes in the target", 0,
     [](Draft& d) {
       d.WithLength();
       d.target = d.passed_target =
           d.random.OneOf({"//smuggled", "/a/../../b", "/%2e%2e/%2f", "/a%00b", "/a;b=c", "/a//b",
                           "/\xc3\xa9", "/a?b?c", "/%0d%0aHost:%20x", "/a\\b"});
     }},
};

Draft Plain(Random& random) {
  Draft draft(random);
  draft.method = random.OneOf({"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get"});
  draft.InsertSent(absl::StrCat(random.InAnyCase("Host"), ": g\r\n"));
  // What the gateway would add is there already: all that leaves is known.
  draft.InsertPassed("Accept-Encoding", "identity");
  draft.InsertPassed("X-Request-Id", "hostile");
  draft.InsertPassed("traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01");
  for (size_t i = random.Below(4); i > 0; --i) draft.InsertPassed("X-Filler", absl::StrCat(i));
  return draft;
}

HostileRequest Finish(const Family& family, const Draft& draft, absl::string_view upstream_host) {
  HostileRequest request;
  request.family = family.name;
  request.status = family.status;
  request.bytes = absl::StrCat(draft.method, " ", draft.target, " ", draft.version, draft.line_end);
  for (const Line& line : draft.lines) request.bytes += line.sent;
  absl::StrAppend(&request.bytes, "\r\n", draft.sent_body);
  if (family.status != 0) {
    absl::StrAppend(&request.bytes, kSmuggled);
    return request;
  }
  request.upstream = absl::StrCat(draft.method, " ", draft.passed_target,
                                  " HTTP/1.1\r\nHost: ", upstream_host, "\r\n");
  for (const Line& line : draft.lines) request.upstream += line.passed;
  absl::StrAppend(&request.upstream, "Content-Length: ", draft.body.size(), "\r\n\r\n", draft.body);
  return request;
}

}  // namespace

std::vector<HostileRequest> HostileRequests(size_t count, absl::string_view upstream_host) {
  std::vector<const Family*> families;
  for (const Family& family : kRefused) families.push_back(&family);
  for (const Family& family : kPassed) families.push_back(&family);
  Random random;
  std::vector<HostileRequest> requests;
  for (size_t i = 0; i < count; ++i) {
    const Family& family = *families[i % families.size()];
    Draft draft = Plain(random);
    family.spoil(draft);
    requests.push_back(Finish(family, draft, upstream_host));
  }
  return requests;
}

}  // namespace sluice::testing
