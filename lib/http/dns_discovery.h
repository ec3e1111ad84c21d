#ifndef SLUICE_LIB_HTTP_DNS_DISCOVERY_H_
#define SLUICE_LIB_HTTP_DNS_DISCOVERY_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/mutex.h"
#include "lib/http/discovery_schedule.h"

namespace sluice::http {

/// Keeps the addresses of names up to date: all that /etc/hosts or the DNS (A and AAAA, CNAMEs
/// followed, search domains heeded) has for them, looked up again when their time to live is over
/// (see DiscoverySchedule). An address is its own only address. Works on one thread of its own.
class DnsDiscovery {
 public:
  /// Hears each name's addresses, sorted, when they are first found and when they change. On the
  /// thread of this; a name that SetNames is just taking away may be heard once more. May call
  /// SetNames.
  using Listener =
      std::function<void(const std::string& name, const std::vector<std::string>& addresses)>;

  struct Options {
    /// "127.0.0.1:5353,[::1]"; "": those of /etc/resolv.conf, read anew before each round.
    std::string servers = "";
  };

  DnsDiscovery(Options options, Listener listener);
  /// Gives up what is being looked up. The listener is not called any more.
  ~DnsDiscovery();

  /// Replaces the set of names. One that was not in the last set is looked up at once, and heard
  /// even if it was known before. Thread-safe.
  void SetNames(const std::set<std::string>& names);

 private:
  class Resolver;

  void Run();
  void Wake();

  const Options options_;
  const Listener listener_;
  const int wake_;  // eventfd
  Mutex mutex_;
  DiscoverySchedule schedule_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_DNS_DISCOVERY_H_
