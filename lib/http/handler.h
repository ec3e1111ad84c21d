#ifndef SLUICE_LIB_HTTP_HANDLER_H_
#define SLUICE_LIB_HTTP_HANDLER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

#include "lib/base/clock.h"
#include "lib/exchange/cancellation.h"
#include "lib/exchange/cause.h"
#include "lib/exchange/message.h"
#include "lib/exchange/seams.h"

namespace sluice::http {

/// What the server asks of the gateway behind it. Called on many fibers of many loops at once.
class Handler {
 public:
  virtual ~Handler() = default;

  /// The most a request's body may have now.
  virtual size_t max_body_bytes() const = 0;

  /// Answers one request; may wait. `accepted`: when its head was there. `cancellation` fires when
  /// the client leaves, and outlives the answer. Never null.
  virtual std::unique_ptr<Answer> Serve(Request request, Instant accepted,
                                        Cancellation& cancellation) = 0;

  /// Answers what is no acceptable request. Never null.
  virtual std::unique_ptr<Answer> Refuse(Cause cause, absl::string_view message,
                                         absl::string_view client_address, Instant accepted,
                                         Cancellation& cancellation) = 0;
};

}  // namespace sluice::http

#endif  // SLUICE_LIB_HTTP_HANDLER_H_
