#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "lib/base/log.h"
#include "lib/base/log_writer.h"
#include "server/command_line.h"
#include "server/config_file.h"
#include "server/gateway.h"
#include "server/life_cycle.h"

ABSL_FLAG(
    std::string, config, "",
    "proto-JSON file of sluice.control.v1.Config; without one, starts with none and answers 503");
ABSL_FLAG(std::string, state, "",
          "directory that keeps each configuration applied; the latest one wins over --config. "
          "Without one, they end with the process");
ABSL_FLAG(std::string, listen, "127.0.0.1:8080",
          "ADDRESS:PORT for clients; one that other hosts reach needs --client_keys");
ABSL_FLAG(
    std::string, client_keys, "",
    "whose keys are good, one a line: PRINCIPAL SHA256HEX of a key (sluicectl token new makes "
    "one) and, if it ends, EXPIRES as 2027-01-31T00:00:00Z. Read again when it changes. "
    "Without one, clients need no key");
ABSL_FLAG(
    bool, reuse_port, false,
    "listen on --listen even if another sluiced with this flag does: it takes over from that one "
    "when that one ends");
ABSL_FLAG(bool, allow_anonymous, false,
          "let anybody in who reaches --listen, without --client_keys");
ABSL_FLAG(
    std::string, control, "127.0.0.1:9090",
    "ADDRESS:PORT or unix:PATH for operators (gRPC); one that other hosts reach needs TLS and "
    "--control_roles");
ABSL_FLAG(std::string, control_roles, "",
          "who may call, one a line: ROLE NAME SHA256HEX of a token (sluicectl token new makes "
          "one), or ROLE NAME of a client certificate; viewer, tailer or operator. Read again when "
          "it changes. Without one, every caller is an operator");
ABSL_FLAG(std::string, control_tls_cert, "", "PEM file of the control port's certificate chain");
ABSL_FLAG(std::string, control_tls_key, "", "PEM file of its key");
ABSL_FLAG(std::string, control_client_ca, "",
          "PEM file; whoever connects needs a certificate of one of these authorities, and is its "
          "common name or an alternative name, by --control_roles");
ABSL_FLAG(std::string, audit_log, "",
          "file to append who changed, tailed or was refused what, as JSON lines, beside the log");
ABSL_FLAG(std::string, ledger, "",
          "file to append what each exchange used, as JSON lines, for one sluiced at a time");
ABSL_FLAG(std::string, admin, "127.0.0.1:9464", "ADDRESS:PORT for /healthz, /readyz and /metrics");
ABSL_FLAG(int, loops, 0, "event-loop threads; 0: one per core");
ABSL_FLAG(absl::Duration, drain, absl::Minutes(10),
          "how long running exchanges may go on after SIGTERM");
ABSL_FLAG(absl::Duration, drain_grace, absl::ZeroDuration(),
          "how long after SIGTERM new requests are still taken, while /readyz is 503 already: as "
          "long as a load balancer needs to see that");
ABSL_FLAG(std::string, log_format, "text", "text or json, to standard error");

namespace sluice::server {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitBadUsage = 2;  // flags or configuration

/// Each connection needs two descriptors; the system's soft limit is often 1024.
void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Main() {
  const std::string format = absl::GetFlag(FLAGS_log_format);
  if (format != "text" && format != "json") {
    std::fprintf(stderr, "sluiced: --log_format is text or json, not \"%s\"\n", format.c_str());
    return kExitBadUsage;
  }
  ConfigureLog(format == "json" ? LogFormat::kJson : LogFormat::kText, LogLevel::kInfo);

  GatewayOptions options;
  options.state = absl::GetFlag(FLAGS_state);
  options.listen = absl::GetFlag(FLAGS_listen);
  options.reuse_port = absl::GetFlag(FLAGS_reuse_port);
  options.client_keys = absl::GetFlag(FLAGS_client_keys);
  options.allow_anonymous = absl::GetFlag(FLAGS_allow_anonymous);
  options.control = absl::GetFlag(FLAGS_control);
  options.access = {.tls_cert = absl::GetFlag(FLAGS_control_tls_cert),
                    .tls_key = absl::GetFlag(FLAGS_control_tls_key),
                    .client_ca = absl::GetFlag(FLAGS_control_client_ca),
                    .roles = absl::GetFlag(FLAGS_control_roles)};
  options.audit_log = absl::GetFlag(FLAGS_audit_log);
  options.ledger = absl::GetFlag(FLAGS_ledger);
  options.admin = absl::GetFlag(FLAGS_admin);
  options.loops = absl::GetFlag(FLAGS_loops);
  if (options.loops < 0 || options.loops > 1024) {
    std::fprintf(stderr, "sluiced: --loops is from 0 to 1024, not %d\n", options.loops);
    return kExitBadUsage;
  }
  for (const absl::Duration limit :
       {absl::GetFlag(FLAGS_drain), absl::GetFlag(FLAGS_drain_grace)}) {
    if (limit >= absl::ZeroDuration()) continue;
    std::fprintf(stderr, "sluiced: --drain and --drain_grace are not negative\n");
    return kExitBadUsage;
  }
  if (const std::string path = absl::GetFlag(FLAGS_config); !path.empty()) {
    absl::StatusOr<config::Config> config = ReadConfigFile(path);
    if (!config.ok()) {
      std::fprintf(stderr, "sluiced: %s\n", std::string(config.status().message()).c_str());
      return kExitBadUsage;
    }
    options.config = *std::move(config);
  }

  RaiseDescriptorLimit();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file that is too large is an error of its write
  LifeCycle life_cycle(
      {.drain = absl::ToChronoNanoseconds(absl::GetFlag(FLAGS_drain)),
       .drain_grace = absl::ToChronoNanoseconds(absl::GetFlag(FLAGS_drain_grace))});

  std::optional<LogWriter> log_writer;  // once nothing ends the process any more
  absl::StatusOr<std::unique_ptr<Gateway>> gateway = Gateway::Start(options);
  if (!gateway.ok()) {
    std::fprintf(stderr, "sluiced: %s\n", std::string(gateway.status().message()).c_str());
    const bool bad_usage =
        absl::IsDataLoss(gateway.status()) || absl::IsUnauthenticated(gateway.status());
    return bad_usage ? kExitBadUsage : kExitFailed;
  }
  log_writer.emplace(STDERR_FILENO);
  life_cycle.Run(**gateway);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace sluice::server

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("an LLM streaming gateway; see README.md");
  // Abseil looks for the flags of --help in files named like the program.
  absl::FlagsUsageConfig usage;
  usage.normalize_filename = [](absl::string_view file) {
    return std::string(absl::EndsWith(file, "server/main.cc") ? "sluiced" : file);
  };
  usage.contains_help_flags = usage.contains_helpshort_flags = [](absl::string_view file) {
    return file == "sluiced" || absl::EndsWith(file, "server/main.cc");
  };
  usage.version_string = [] { return std::string("sluiced " SLUICE_VERSION "\n"); };
  absl::SetFlagsUsageConfig(usage);
  if (const std::string problem = sluice::server::CommandLineProblem({argv + 1, argv + argc});
      !problem.empty()) {
    std::fprintf(stderr, "sluiced: %s; see sluiced --help\n", problem.c_str());
    return sluice::server::kExitBadUsage;
  }
  absl::ParseCommandLine(argc, argv);
  return sluice::server::Main();
}
