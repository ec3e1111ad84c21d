#ifndef SLUICE_TESTS_SOAK_CHAOS_ENGINE_H_
#define SLUICE_TESTS_SOAK_CHAOS_ENGINE_H_

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"

#include "tests/support/engine_script.h"
#include "tests/support/scripted_engine.h"

namespace sluice::testing {

/// The header by which a client numbers its streams; every event of the answer carries the number.
inline constexpr absl::string_view kStreamHeader = "X-Stream";

/// An engine that answers as a fleet on a bad day does: whole streams, resets and ends in the
/// middle, silence, refusals before the first event. What a stream gets is drawn from `seed` and
/// its number.
std::unique_ptr<ScriptedEngine> StartChaosEngine(uint64_t seed);

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SOAK_CHAOS_ENGINE_H_
