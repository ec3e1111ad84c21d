#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "admin/commands.h"
#include "admin/interrupts.h"
#include "lib/base/clock.h"

int main(int argc, char** argv) {
  const sluice::admin::Interrupts interrupts;
  const sluice::SystemClock clock;
  sluice::admin::World world{
      .environment = [](absl::string_view name) -> std::optional<std::string> {
        const char* value = std::getenv(std::string(name).c_str());
        return value == nullptr || *value == '\0' ? std::nullopt
                                                  : std::optional<std::string>(value);
      },
      .in = std::cin,
      .out = std::cout,
      .err = std::cerr,
      .clock = clock,
      .zone = absl::LocalTimeZone(),
      .stop = interrupts.token()};
  const std::vector<std::string> args(argv + 1, argv + argc);
  return static_cast<int>(sluice::admin::RunSluicectl(args, world));
}
