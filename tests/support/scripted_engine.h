#ifndef SLUICE_TESTS_SUPPORT_SCRIPTED_ENGINE_H_
#define SLUICE_TESTS_SUPPORT_SCRIPTED_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "tests/support/engine_answer.h"
#include "tests/support/engine_request.h"
#include "tests/support/engine_script.h"
#include "tests/support/patience.h"

namespace sluice::testing {

/// A peer closed its connection while the engine was still answering it: the client cancelled.
struct ClientLeft {
  size_t request = 0;  // index into requests()
  uint64_t connection = 0;
  Instant at;          // when the engine saw it
  bool reset = false;  // by an RST; else by a FIN
  uint64_t pieces_sent = 0;
  std::optional<uint64_t> pieces_total;  // nothing: the answer never ends
};

struct EngineCounts {
  uint64_t accepted = 0;  // connections
  uint64_t open = 0;      // connections
  uint64_t bytes_received = 0;
  uint64_t requests = 0;   // whole ones
  uint64_t answered = 0;   // scripts that ran to their end, or closed the connection themselves
  uint64_t cancelled = 0;  // ClientLeft events
};

/// An HTTP/1.1 upstream that does exactly what its scripts say, the broken things too. Raw sockets
/// and one thread on epoll for all connections, so that thousands of silent streams cost next to
/// nothing, and no fault is shared with an HTTP library under test.
///
/// Each request is answered by the oldest queued script (Enqueue), else by what the responder says,
/// else by a 500 that says so. Thread-safe. Waits give up after `patience` and return whether the
/// condition held.
class ScriptedEngine {
 public:
  /// Runs on the engine's thread and must not block; it may call no method of the engine.
  using Responder = std::function<Script(const EngineRequest&)>;

  struct Options {
    uint16_t port = 0;  // on 127.0.0.1; 0: any free one
    /// Closes a connection that waited so long for its next request (FIN). kNever as a length:
    /// keeps it.
    Duration keep_alive = Duration::max();
    /// Off: requests() stays empty and costs no memory. The counts go on.
    bool keep_requests = true;
    /// Hears one line for people per request and per answer that ended or was left. On the engine's
    /// thread.
    std::function<void(absl::string_view line)> log;
  };

  /// UNAVAILABLE: the port is taken.
  static absl::StatusOr<std::unique_ptr<ScriptedEngine>> Start(Options options);
  static absl::StatusOr<std::unique_ptr<ScriptedEngine>> Start() { return Start(Options{}); }
  /// Stops listening and closes every connection with an RST.
  ~ScriptedEngine();

  uint16_t port() const { return port_; }
  /// "http://127.0.0.1:PORT"
  std::string uri() const;

  /// Answers the next request that no earlier queued script takes.
  void Enqueue(Script script);
  void SetResponder(Responder responder);
  void AnswerAll(Script script);
  /// From now on this gate lets every answer pass, at once and later.
  void OpenGate(absl::string_view name);
  /// Ends every open connection with an RST, whatever it is doing. Not counted as answered or
  /// cancelled.
  void ResetConnections();

  EngineCounts counts() const;
  std::vector<EngineRequest> requests() const;
  std::vector<ClientLeft> clients_left() const;

  bool WaitForRequests(uint64_t at_least, Duration patience = kPatience);
  bool WaitForAnswered(uint64_t at_least, Duration patience = kPatience);
  bool WaitForCancelled(uint64_t at_least, Duration patience = kPatience);
  bool WaitForOpenConnections(uint64_t exactly, Duration patience = kPatience);
  /// Waits until that many answers stand at the gate `name`, all before it sent; "" is
  /// Script::Hold.
  bool WaitAtGate(absl::string_view name, uint64_t at_least = 1, Duration patience = kPatience);

 private:
  struct Connection {
    int fd = -1;
    uint64_t number = 0;
    RequestReader reader;
    std::optional<EngineAnswer> answer;
    Instant wakes_at = kNever;        // its entry in timers_
    std::optional<std::string> gate;  // where its answer stands
    bool watches_writable = false;
  };
  // What epoll reports for the two descriptors that are no connection; those count from 1.
  static constexpr uint64_t kListenerTag = 0;
  static constexpr uint64_t kWakeTag = UINT64_MAX;

  explicit ScriptedEngine(Options options);
  absl::Status Listen();
  template <typename Condition>
  bool WaitFor(Duration patience, Condition condition);
  void Wake();

  // On the engine's thread, in scripted_engine_loop.cc. Those that return bool or are named Close
  // or PeerLeft may destroy the connection; true means that it is still there.
  void Run();
  void RunTimers();
  void Accept();
  /// Does what other threads asked for; returns whether to go on.
  bool ObeyCommands();
  /// Reads what is there and answers.
  bool ReadAndAdvance(Connection* connection);
  /// Answers request after request until something has to wait.
  bool Advance(Connection* connection);
  bool BeginNextAnswer(Connection* connection);
  Script ScriptFor(const EngineRequest& request);
  bool GateIsOpen(const std::string& name) const;
  void AnswerEnded(Connection* connection);
  void PeerLeft(Connection* connection, bool reset);
  void Close(Connection* connection, bool reset);

  void WakeAt(Connection* connection, Instant when);
  void WatchWritable(Connection* connection, bool on);
  void StandAtGate(Connection* connection, std::optional<std::string> gate);
  void Say(absl::string_view line) const;

  const Options options_;
  uint16_t port_ = 0;
  int listener_ = -1;
  int epoll_ = -1;
  int wake_ = -1;  // eventfd: the thread has commands to read

  // Of the engine's thread alone.
  std::unordered_map<uint64_t, std::unique_ptr<Connection>> connections_;
  std::set<std::pair<Instant, uint64_t>> timers_;  // when to wake which connection
  uint64_t last_connection_ = 0;
  uint64_t last_request_ = 0;

  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool reset_all_ ABSL_GUARDED_BY(mutex_) = false;
  bool gates_changed_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<std::string, std::less<>> open_gates_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, uint64_t, std::less<>> at_gate_ ABSL_GUARDED_BY(mutex_);
  std::deque<Script> queue_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const Responder> responder_ ABSL_GUARDED_BY(mutex_);
  EngineCounts counts_ ABSL_GUARDED_BY(mutex_);
  std::vector<EngineRequest> requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<ClientLeft> clients_left_ ABSL_GUARDED_BY(mutex_);

  std::thread thread_;
};

/// A port of 127.0.0.1 that refuses connections for as long as this lives, but while an engine that
/// was told to takes it.
class RefusingPort {
 public:
  RefusingPort();
  ~RefusingPort();
  RefusingPort(const RefusingPort&) = delete;
  RefusingPort& operator=(const RefusingPort&) = delete;

  uint16_t port() const { return port_; }
  std::string uri() const;

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_SCRIPTED_ENGINE_H_
