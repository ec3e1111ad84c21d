#ifndef SLUICE_LIB_RELAY_FINISHED_LINE_H_
#define SLUICE_LIB_RELAY_FINISHED_LINE_H_

#include "lib/exchange/exchange.h"

namespace sluice::relay {

/// Writes the one log line of a finished exchange, at the level of its cause. What the exchange has
/// not got is left out, text of peers is cut to 256 bytes; there is no key and nothing of a body in
/// it.
void LogFinished(const Exchange& record);

}  // namespace sluice::relay

#endif  // SLUICE_LIB_RELAY_FINISHED_LINE_H_
