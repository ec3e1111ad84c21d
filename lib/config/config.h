#ifndef SLUICE_LIB_CONFIG_CONFIG_H_
#define SLUICE_LIB_CONFIG_CONFIG_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "lib/base/clock.h"

namespace sluice::config {

/// One upstream address. `uri` is `http://host[:port][/prefix]`; a prefix goes before the request's
/// path.
struct Endpoint {
  std::string id;
  std::string uri;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// A credential of a pool at its upstreams: where its value is, never the value. Exactly one of
/// `env` and `file` is set.
struct Key {
  std::string id;
  std::string env = "";   // an environment variable of the gateway
  std::string file = "";  // a path; blanks and newlines around the value do not count
  friend bool operator==(const Key&, const Key&) = default;
};

/// Limits on silence; total time is never limited. Zero is refused by Validate; unset fields of the
/// proto become these defaults.
struct Timeouts {
  Duration connect = std::chrono::seconds(2);
  Duration first_frame =
      std::chrono::seconds(300);  // from the start of an attempt to its first valid frame
  Duration idle = std::chrono::seconds(60);          // between two pieces after the commit
  Duration frame_idle = std::chrono::seconds(300);   // between two frames; comments do not count
  Duration hold_budget = std::chrono::seconds(600);  // all attempts together
  Duration hold_keepalive =
      std::chrono::seconds(10);  // comments only for so long: commit and relay them
  Duration client_stall = std::chrono::seconds(30);  // a client that takes no byte
  friend bool operator==(const Timeouts&, const Timeouts&) = default;
};

struct Retry {
  int max_attempts = 3;
  bool retry_503 = true;
  bool retry_after_send =
      true;  // retry what may have been worked on: resets, timeouts, 429, 5xx, error frames
  friend bool operator==(const Retry&, const Retry&) = default;
};

enum class CommitPoint { kFirstFrame, kOnHead };
enum class RelayMode { kIdentical, kValidFrames };
enum class Credentials { kReplace, kPassThrough };

struct Pool {
  std::string id;
  std::vector<Endpoint> endpoints{};
  Timeouts timeouts{};
  Retry retry{};
  CommitPoint commit = CommitPoint::kFirstFrame;
  RelayMode relay = RelayMode::kIdentical;
  Credentials credentials = Credentials::kReplace;
  std::vector<Key> keys{};  // used in turn; none: requests carry no credentials of ours
  /// The field a key is sent in: as `Bearer KEY` in Authorization, else bare.
  std::string key_header = "Authorization";
  /// Streamed OpenAI chat and completions requests ask for usage; its chunk is hidden from a client
  /// who did not.
  bool ask_usage = false;
  friend bool operator==(const Pool&, const Pool&) = default;
};

/// `model` is an exact name, a prefix that ends in `*`, or `*` for any (also for requests without a
/// model). The most specific match wins: exact, then the longest prefix.
struct Route {
  std::string model;
  std::string pool;
  friend bool operator==(const Route&, const Route&) = default;
};

struct Limits {
  size_t max_body_bytes = size_t{64} << 20;
  int max_in_flight = 10000;
  int event_ring_capacity = 65536;
  friend bool operator==(const Limits&, const Limits&) = default;
};

struct Config {
  std::vector<Pool> pools;
  std::vector<Route> routes;
  Limits limits;
  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_CONFIG_H_
