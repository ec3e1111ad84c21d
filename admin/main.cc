#include <cstdlib>
#include <iostream>
#include <istream>
#include <string>
#include <unistd.h>
#include <vector>

#include "admin/commands.h"
#include "admin/editor.h"
#include "admin/interruptible_input.h"
#include "admin/interrupts.h"
#include "admin/top_screen.h"
#include "lib/base/clock.h"

int main(int argc, char** argv) {
  sluice::admin::Interrupts interrupts;
  const sluice::SystemClock clock;
  sluice::admin::InterruptibleInput input(interrupts.token());
  std::istream in(&input);
  in.tie(&std::cout);
  sluice::admin::World world{
      .environment = [](absl::string_view name) -> std::optional<std::string> {
        const char* value = std::getenv(std::string(name).c_str());
        return value == nullptr || *value == '\0' ? std::nullopt
                                                  : std::optional<std::string>(value);
      },
      .in = in,
      .out = std::cout,
      .err = std::cerr,
      .clock = clock,
      .zone = absl::LocalTimeZone(),
      .stop = interrupts.token(),
      .edit =
          [&interrupts](const std::string& editor, const std::string& path) {
            const sluice::admin::Interrupts::Pause pause(interrupts);
            return sluice::admin::RunEditor(editor, path);
          },
      .open_screen = nullptr};
  if (::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0) {
    world.open_screen = sluice::admin::OpenCursesScreen;
  }
  const std::vector<std::string> args(argv + 1, argv + argc);
  return static_cast<int>(sluice::admin::RunSluicectl(args, world));
}
