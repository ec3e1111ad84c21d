#ifndef SLUICE_LIB_CONFIG_CONFIG_H_
#define SLUICE_LIB_CONFIG_CONFIG_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/exchange/upstream_address.h"

namespace sluice::config {

/// A header field the gateway adds.
struct HeaderAddition {
  std::string name;
  std::string value;
  friend bool operator==(const HeaderAddition&, const HeaderAddition&) = default;
};

/// One upstream address, as ParseEndpointUri takes it: a prefix goes before the request's path, a
/// query is added to the request's.
struct Endpoint {
  std::string id;
  std::string uri;
  int weight = 1;         // of its pool's requests, beside the others' weights
  int max_in_flight = 0;  // attempts at once; 0: no limit
  /// The name is looked up again when its time to live is over, and each address is an endpoint of
  /// its own, `ID@ADDRESS`.
  bool resolve = false;
  std::vector<HeaderAddition> headers{};  // on each request to it
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
  /// A failed attempt takes one token of the pool's, a good one gives back so much of one; retries
  /// are made only while more than half of the tokens are there (gRPC A6).
  int budget_tokens = 100;
  double budget_ratio = 0.1;
  friend bool operator==(const Retry&, const Retry&) = default;
};

/// A second attempt beside one that is slow to begin its answer; the first good answer is taken,
/// and the other attempt ended.
struct Hedge {
  Duration after{0};   // since the start of the first; 0: there is never a second
  double ratio = 0.1;  // at most so many for each exchange, and a few at once
  friend bool operator==(const Hedge&, const Hedge&) = default;
};

/// How the next endpoint is chosen.
enum class Balance {
  kRoundRobin,
  kWeighted,          // in proportion to the weights, smoothly
  kLeastOutstanding,  // fewest attempts in flight for its weight
  kTwoChoices,        // the better of two drawn by weight, by attempts in flight
  kLatency,           // the better of two, by time to first frame times attempts in flight
  kConsistentHash,    // by `hash_on`, with bounded load
  kPrefixAffinity,    // by the longest prefix of the prompt it has seen, with bounded load
};

/// What a consistent hash is of. A request that has none is balanced by two choices.
enum class HashOn {
  kHeader,        // `hash_header`
  kUser,          // the body's `user` or `metadata.user_id`, else the principal
  kConversation,  // the prompt's first block: the same in all turns of a conversation
};

struct Balancing {
  Balance policy = Balance::kRoundRobin;
  HashOn hash_on = HashOn::kConversation;
  std::string hash_header = "";
  double load_factor = 1.25;  // of the mean load; no endpoint is preferred above it
  friend bool operator==(const Balancing&, const Balancing&) = default;
};

/// When endpoints are taken out because they fail, and how they come back.
struct Health {
  int consecutive_failures = 5;  // in a row; 0: not counted
  double failure_ratio = 0;      // of the attempts of the last 10 s, if they are 20 or more; 0: not
  Duration ejection = std::chrono::seconds(10);  // the first; doubled each time
  Duration longest_ejection = std::chrono::seconds(300);
  int max_ejected_percent = 50;  // of the pool's endpoints, rounded down
  Duration slow_start{0};        // after it came back: its weight grows from a tenth to full
  friend bool operator==(const Health&, const Health&) = default;
};

/// Requests that ask whether an endpoint is well. Off without a path.
struct Probe {
  std::string path = "";  // "/health"; after the endpoint's prefix
  Duration interval = std::chrono::seconds(10);
  Duration timeout = std::chrono::seconds(2);
  int unhealthy_after = 3;  // failures in a row
  int healthy_after = 2;    // successes in a row
  friend bool operator==(const Probe&, const Probe&) = default;
};

/// Requests that wait because their pool is full.
struct Queue {
  int capacity = 0;  // 0: nobody waits
  Duration max_wait = std::chrono::seconds(30);
  friend bool operator==(const Queue&, const Queue&) = default;
};

enum class CommitPoint { kFirstFrame, kOnHead };
enum class RelayMode { kIdentical, kValidFrames };
enum class Credentials { kReplace, kPassThrough };

struct Pool {
  std::string id;
  std::vector<Endpoint> endpoints{};
  Timeouts timeouts{};
  Retry retry{};
  Hedge hedge{};
  CommitPoint commit = CommitPoint::kFirstFrame;
  RelayMode relay = RelayMode::kIdentical;
  Credentials credentials = Credentials::kReplace;
  std::vector<Key> keys{};  // used in turn; none: requests carry no credentials of ours
  /// The field a key is sent in: as `Bearer KEY` in Authorization, else bare.
  std::string key_header = "Authorization";
  /// Streamed OpenAI chat and completions requests ask for usage; its chunk is hidden from a client
  /// who did not.
  bool ask_usage = false;
  Balancing balancing{};
  Health health{};
  Probe probe{};
  int max_in_flight = 0;  // exchanges; 0: no limit
  Queue queue{};
  TlsOptions tls{};                   // for its `https` endpoints
  std::vector<std::string> models{};  // it serves; for `GET /v1/models`
  friend bool operator==(const Pool&, const Pool&) = default;
};

/// Where a route leads.
struct RouteTarget {
  std::string pool;
  int weight = 1;          // among the route's targets
  std::string model = "";  // the upstream gets this name instead; "": the client's
  friend bool operator==(const RouteTarget&, const RouteTarget&) = default;
};

/// A header field of the request: its value is `value`, or any when that is "*".
struct HeaderMatch {
  std::string name;
  std::string value;
  friend bool operator==(const HeaderMatch&, const HeaderMatch&) = default;
};

/// `model` is a name, or a pattern in which `*` stands for any text and `?` for one character (`*`
/// alone also for requests without a model). Of the routes that match, an exact name comes first,
/// then the pattern with the most literal characters; of those with the same model, the one with
/// more header matches.
struct Route {
  std::string model;
  std::string pool = "";                 // the one target, if it needs no more than a name
  std::vector<RouteTarget> targets{};    // else: one is chosen by its weight and the request's id
  std::vector<HeaderMatch> headers{};    // all must match
  std::vector<RouteTarget> fallbacks{};  // in order, once that came to nothing; no weights
  friend bool operator==(const Route&, const Route&) = default;
};

/// What a principal may use in a minute, of some models. 0: no limit.
struct Rate {
  std::string model = "*";  // a pattern, as in routes; the models that match share one count
  int64_t requests_per_minute = 0;
  int64_t tokens_per_minute = 0;
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// Somebody with client keys. The keys are in the file of `sluiced --client_keys`.
struct Principal {
  std::string id;                     // "*": everybody who is not named, each on their own
  std::vector<std::string> models{};  // patterns; none: every model
  int max_in_flight = 0;              // 0: no limit
  std::vector<Rate> rates{};          // the first that matches the model counts
  bool end_streams = false;           // end a running stream that passes its tokens per minute
  int priority = 0;                   // in queues: higher goes first
  friend bool operator==(const Principal&, const Principal&) = default;
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
  std::vector<Principal> principals;
  Limits limits;
  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace sluice::config

#endif  // SLUICE_LIB_CONFIG_CONFIG_H_
