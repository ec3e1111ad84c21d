#include <clocale>
#include <cstdio>

#define NCURSES_NOMACROS  // else they take common words: move, erase, timeout
#include <curses.h>

#include "admin/text_table.h"
#include "admin/top_screen.h"

namespace sluice::admin {
namespace {

class CursesScreen final : public TopScreen {
 public:
  explicit CursesScreen(SCREEN* screen) : screen_(screen) {
    ::cbreak();
    ::noecho();
    ::curs_set(0);
    ::keypad(::stdscr, true);
    ::set_escdelay(25);  // ms to tell the key Esc from the beginning of another one
  }
  ~CursesScreen() override {
    ::endwin();
    ::delscreen(screen_);
  }

  size_t width() const override { return static_cast<size_t>(::getmaxx(::stdscr)); }
  size_t height() const override { return static_cast<size_t>(::getmaxy(::stdscr)); }

  void Draw(const std::vector<TopLine>& lines) override {
    ::werase(::stdscr);
    for (size_t i = 0; i < lines.size() && i < height(); ++i) {
      ::wattrset(::stdscr, AttributeOf(lines[i].style));
      ::wmove(::stdscr, static_cast<int>(i), 0);
      ::waddstr(::stdscr, Fit(lines[i].text, width(), /*right=*/false).c_str());
    }
    ::wrefresh(::stdscr);
  }

  std::optional<TopKey> ReadKey(std::chrono::milliseconds patience) override {
    ::wtimeout(::stdscr, static_cast<int>(patience.count()));
    const int key = ::wgetch(::stdscr);
    switch (key) {
      case ERR:
      case KEY_RESIZE:
        return std::nullopt;
      case KEY_UP:
        return TopKey{TopKey::Kind::kUp};
      case KEY_DOWN:
        return TopKey{TopKey::Kind::kDown};
      case KEY_PPAGE:
        return TopKey{TopKey::Kind::kPageUp};
      case KEY_NPAGE:
        return TopKey{TopKey::Kind::kPageDown};
      case KEY_ENTER:
      case '\n':
      case '\r':
        return TopKey{TopKey::Kind::kEnter};
      case KEY_BACKSPACE:
      case 0x7f:
      case '\b':
        return TopKey{TopKey::Kind::kBackspace};
      case 0x1b:
        return TopKey{TopKey::Kind::kEscape};
      default:
        if (key < 0x20 || key > 0xff) return std::nullopt;
        return TopKey{TopKey::Kind::kCharacter, static_cast<char>(key)};
    }
  }

 private:
  static int AttributeOf(TopLine::Style style) {
    switch (style) {
      case TopLine::Style::kPlain:
        return A_NORMAL;
      case TopLine::Style::kHead:
        return A_UNDERLINE;
      case TopLine::Style::kSelected:
        return A_REVERSE;
      case TopLine::Style::kAlarm:
        return A_BOLD;
      case TopLine::Style::kHint:
        return A_DIM;
    }
    return A_NORMAL;
  }

  SCREEN* const screen_;
};

}  // namespace

std::unique_ptr<TopScreen> OpenCursesScreen() {
  std::setlocale(LC_CTYPE, "");  // so that names in UTF-8 are drawn as such
  // Not initscr, which would end the process for a terminal it does not know.
  SCREEN* const screen = ::newterm(nullptr, stdout, stdin);
  return screen == nullptr ? nullptr : std::make_unique<CursesScreen>(screen);
}

}  // namespace sluice::admin
