#include "lib/base/log.h"

#include <atomic>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "lib/base/json_object.h"
#include "lib/base/mutex.h"

namespace sluice {
namespace {

std::atomic<LogFormat> format_{LogFormat::kText};
std::atomic<LogLevel> minimum_{LogLevel::kInfo};
Mutex sink_mutex_;
std::function<void(absl::string_view)>* sink_ ABSL_GUARDED_BY(sink_mutex_) = nullptr;

constexpr size_t kUsualLineBytes = 512;

const char* LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARN";
    case LogLevel::kError:
      return "ERROR";
  }
  return "?";
}

bool NeedsQuotes(absl::string_view text) {
  if (text.empty()) return true;
  for (const unsigned char c : text) {
    if (c <= 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '=') return true;
  }
  return false;
}

void AppendTextValue(const LogField& field, std::string* out) {
  const auto* text = std::get_if<absl::string_view>(&field.value);
  if (text != nullptr && !NeedsQuotes(*text)) {
    absl::StrAppend(out, *text);
  } else {
    AppendJsonValue(field, out);
  }
}

}  // namespace

void Log(LogLevel level, absl::string_view message, std::initializer_list<LogField> fields) {
  Log(level, message, absl::MakeConstSpan(fields.begin(), fields.size()));
}

std::string LogLine(LogFormat format, LogLevel level, absl::string_view message,
                    absl::Span<const LogField> fields) {
  const std::string time =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
  if (format == LogFormat::kJson) {
    std::vector<LogField> members = {
        {"time", time}, {"level", LevelName(level)}, {"message", message}};
    members.insert(members.end(), fields.begin(), fields.end());
    return JsonObject(members);
  }
  std::string line;
  line.reserve(kUsualLineBytes);
  absl::StrAppend(&line, time, " ", LevelName(level), " ", message);
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.name, "=");
    AppendTextValue(field, &line);
  }
  return line;
}

void Log(LogLevel level, absl::string_view message, absl::Span<const LogField> fields) {
  if (level < minimum_.load(std::memory_order_relaxed)) return;
  std::string line = LogLine(format_.load(std::memory_order_relaxed), level, message, fields);
  MutexLock lock(&sink_mutex_);
  if (sink_ != nullptr) {
    (*sink_)(line);
    return;
  }
  line.push_back('\n');
  // A log line that cannot be written has nowhere to be reported.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void ConfigureLog(LogFormat format, LogLevel minimum) {
  format_ = format;
  minimum_ = minimum;
}

void SetLogSink(std::function<void(absl::string_view line)> sink) {
  MutexLock lock(&sink_mutex_);
  delete sink_;
  sink_ = sink ? new std::function<void(absl::string_view)>(std::move(sink)) : nullptr;
}

}  // namespace sluice
