#ifndef SLUICE_LIB_EXCHANGE_PROVENANCE_H_
#define SLUICE_LIB_EXCHANGE_PROVENANCE_H_

#include "absl/strings/string_view.h"

#include "lib/exchange/exchange.h"

namespace sluice {

/// In logs and ledgers: "reported".
inline absl::string_view LabelOf(Provenance provenance) {
  switch (provenance) {
    case Provenance::kReported:
      return "reported";
    case Provenance::kPartial:
      return "partial";
    case Provenance::kAbsent:
      break;
  }
  return "absent";
}

}  // namespace sluice

#endif  // SLUICE_LIB_EXCHANGE_PROVENANCE_H_
