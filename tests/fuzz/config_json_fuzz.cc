// A configuration's text from a file or an operator: read to a configuration or to reasons why not.
// What is taken is valid, and means the same once it was written out and read again.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "lib/config/validate.h"
#include "server/config_convert.h"
#include "server/config_file.h"
#include "server/proto_json.h"
#include "tests/fuzz/pieces.h"

using sluice::server::ParseConfig;

namespace {

std::string Written(const sluice::config::Config& config) {
  return sluice::server::ToJson(sluice::server::ToProto(config),
                                sluice::server::JsonLayout::kIndented);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = ParseConfig(text);
  if (!config.ok()) {
    FUZZ_CHECK(config.status().code() == absl::StatusCode::kInvalidArgument);
    FUZZ_CHECK(!config.status().message().empty());
    return 0;
  }
  FUZZ_CHECK(Validate(*config).empty());
  const std::string written = Written(*config);
  const auto again = ParseConfig(written);
  FUZZ_CHECK(again.ok() && Written(*again) == written);
  return 0;
}
