#ifndef SLUICE_LIB_LEDGER_LEDGER_LINE_H_
#define SLUICE_LIB_LEDGER_LEDGER_LINE_H_

#include <string>

#include "lib/exchange/exchange.h"

namespace sluice::ledger {

/// The line of the ledger for `x`, which has finished: a JSON object, UTF-8, without the newline.
/// Its members, in this order; those marked ? are left out when there is none:
///
///   time                RFC 3339, UTC, with milliseconds: when it ended
///   id, request_id      of the exchange; the client's
///   principal, model, pool, endpoint, key
///                       whom it was for, and the last attempt; "" if there is none
///   cause, http_status, attempts, stream
///   usage               "reported", "partial" or "absent"
///   prompt_tokens?, completion_tokens?, total_tokens?, cached_tokens?, reasoning_tokens?
///   upstream_bytes, client_bytes
///   duration_ms, ttft_ms?
std::string LedgerLine(const Exchange& x);

}  // namespace sluice::ledger

#endif  // SLUICE_LIB_LEDGER_LEDGER_LINE_H_
