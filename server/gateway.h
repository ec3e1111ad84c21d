#ifndef SLUICE_SERVER_GATEWAY_H_
#define SLUICE_SERVER_GATEWAY_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "lib/admission/client_keys.h"
#include "lib/base/clock.h"
#include "lib/config/config.h"
#include "lib/exchange/observer.h"
#include "lib/http/client_connection.h"
#include "lib/telemetry/histogram.h"
#include "server/control_credentials.h"
#include "server/data_plane.h"

namespace sluice::server {

struct GatewayOptions {
  std::string listen = "127.0.0.1:8080";   // clients
  bool reuse_port = false;                 // `listen` may be another gateway's too, to take over
  std::string client_keys = "";            // the file of their keys; "": they need none
  bool allow_anonymous = false;            // on a `listen` that others reach, without client_keys
  std::string control = "127.0.0.1:9090";  // operators, gRPC; also "unix:/path"
  AccessOptions access = {};               // to `control`
  std::string audit_log = "";              // a file for it, beside the log; "": none
  std::string ledger = "";                 // a file with a line for each exchange; "": none
  std::string admin = "127.0.0.1:9464";    // probes
  int loops = 0;                           // event-loop threads; 0: one per core
  std::string state = "";                  // a directory that keeps configurations; "": none does
  std::optional<config::Config> config;  // to begin with, unless `state` has one already; neither:
                                         // answers 503 until one is applied
  http::ReadLimits client_reads;         // how long clients may take to send a request
  Observer* observer = nullptr;          // hears every exchange, last; must outlive the gateway
};

/// The whole daemon but for flags and signals: owns every part and joins every thread.
/// Thread-compatible.
class Gateway final : public DataPlane {
 public:
  /// Serves on return. UNAVAILABLE or INVALID_ARGUMENT: an address that could not be had.
  /// INVALID_ARGUMENT too: a config that Validate refuses. Of `state`: DATA_LOSS or
  /// FAILED_PRECONDITION when its latest version cannot be used, or somebody else uses it; other
  /// codes, e.g. NOT_FOUND, when it is no directory to work with. Of `ledger`: those of
  /// LineFile::Open. UNAUTHENTICATED: `listen` or `control` would let strangers in, or a file that
  /// says who may cannot be used.
  static absl::StatusOr<std::unique_ptr<Gateway>> Start(const GatewayOptions& options);

  /// Ends at once what Drain has not: running exchanges end as `drained`.
  ~Gateway() override;

  /// Reads keys and certificates again now, and logs what has changed and what cannot be used. They
  /// are looked at from time to time anyway. May block on the disk.
  void Reload();

  // The steps to the end, in this order; each may be left out or repeated.

  /// Says that it is about to end, and serves on: `/readyz` is 503, gRPC's health NOT_SERVING, and
  /// each answer is the last of its connection.
  void AnnounceEnd();
  /// Refuses new requests, and lets running exchanges go on: `/readyz` is 503.
  void Drain() override;
  int64_t undrained() const override;
  /// Takes in what has connected for an answer yet, and stops listening to clients.
  void StopAccepting();
  /// Whether that is done, and no client is connected any more.
  bool idle() const;

  int port() const;
  int control_port() const;
  int admin_port() const;

  /// From each cancellation to the end of its upstream's connection.
  const telemetry::Histogram& cancel_latency() const;

  int64_t in_flight() const override;
  int64_t accepted() const override;
  bool draining() const override;
  std::map<uint64_t, int64_t, std::greater<>> in_flight_by_generation() const override;
  Resources resources() const override;

 private:
  struct Parts;
  Gateway(const GatewayOptions& options, std::unique_ptr<admission::ClientKeysFile> client_keys);

  std::unique_ptr<Parts> parts_;
};

}  // namespace sluice::server

#endif  // SLUICE_SERVER_GATEWAY_H_
