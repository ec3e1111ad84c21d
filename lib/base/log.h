#ifndef SLUICE_LIB_BASE_LOG_H_
#define SLUICE_LIB_BASE_LOG_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace sluice {

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

/// One `name=value` of a log line. Values are borrowed for the length of the call.
struct LogField {
  LogField(absl::string_view n, absl::string_view v) : name(n), value(v) {}
  LogField(absl::string_view n, const char* v) : name(n), value(absl::string_view(v)) {}
  LogField(absl::string_view n, const std::string& v) : name(n), value(absl::string_view(v)) {}
  LogField(absl::string_view n, bool v) : name(n), value(v) {}
  LogField(absl::string_view n, double v) : name(n), value(v) {}
  template <typename Int>
  requires std::is_integral_v<Int> LogField(absl::string_view n, Int v)
      : name(n), value(static_cast<int64_t>(v)) {}

  absl::string_view name;
  std::variant<absl::string_view, bool, double, int64_t> value;
};

/// One line on standard error: `2026-01-02T03:04:05.678Z INFO message name=value ...`, or a JSON
/// object with the same fields. Control bytes are escaped, so a peer cannot forge a line.
/// Thread-safe; a line is written whole. Never pass keys or prompt text.
void Log(LogLevel level, absl::string_view message, std::initializer_list<LogField> fields = {});
void Log(LogLevel level, absl::string_view message, absl::Span<const LogField> fields);

/// The line that Log writes in that format, without the newline.
std::string LogLine(LogFormat format, LogLevel level, absl::string_view message,
                    absl::Span<const LogField> fields);

/// Call once at start-up, before threads exist. Lines under `minimum` are dropped.
void ConfigureLog(LogFormat format, LogLevel minimum);

/// Sends finished lines (without the newline) to `sink` instead of standard error, one at a time;
/// an empty function restores it. It must not log.
void SetLogSink(std::function<void(absl::string_view line)> sink);

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_LOG_H_
