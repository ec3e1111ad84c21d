#ifndef SLUICE_ADMIN_TOP_SCREEN_H_
#define SLUICE_ADMIN_TOP_SCREEN_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice::admin {

/// One line of the screen, fit to show.
struct TopLine {
  enum class Style { kPlain, kHead, kSelected, kAlarm, kHint };

  std::string text;
  Style style = Style::kPlain;

  friend bool operator==(const TopLine&, const TopLine&) = default;
};

/// One key that was pressed.
struct TopKey {
  enum class Kind { kCharacter, kUp, kDown, kPageUp, kPageDown, kEnter, kEscape, kBackspace };

  Kind kind = Kind::kCharacter;
  char character = 0;  // one byte of UTF-8
};

/// A terminal that is ours for the life of this object. Confined to one thread.
class TopScreen {
 public:
  virtual ~TopScreen() = default;

  virtual size_t width() const = 0;
  virtual size_t height() const = 0;
  /// Shows `lines` and nothing else; what does not fit is cut.
  virtual void Draw(const std::vector<TopLine>& lines) = 0;
  /// The next key, or nothing when none came in time or the size has changed.
  virtual std::optional<TopKey> ReadKey(std::chrono::milliseconds patience) = 0;
};

/// The terminal of standard input and output; null if its kind is not known.
std::unique_ptr<TopScreen> OpenCursesScreen();

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_TOP_SCREEN_H_
