#ifndef SLUICE_ADMIN_INTERRUPTIBLE_INPUT_H_
#define SLUICE_ADMIN_INTERRUPTIBLE_INPUT_H_

#include <array>
#include <functional>
#include <optional>
#include <stop_token>
#include <streambuf>

namespace sluice::admin {

/// Standard input, which ends when `stop` is requested, also while a read waits for a terminal or a
/// pipe. Confined to one thread; `stop` may be requested on any.
class InterruptibleInput final : public std::streambuf {
 public:
  explicit InterruptibleInput(std::stop_token stop);
  ~InterruptibleInput() override;

 protected:
  int_type underflow() override;

 private:
  std::array<char, 4096> buffer_;
  const int stopped_;  // eventfd: readable once stop is requested
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_INTERRUPTIBLE_INPUT_H_
