#ifndef SLUICE_ADMIN_TOP_KEYS_H_
#define SLUICE_ADMIN_TOP_KEYS_H_

#include <string>

#include "admin/top_model.h"
#include "admin/top_screen.h"

namespace sluice::admin {

/// What the keys of `top` do: to the model, or, by what Press returns, to the server.
class TopKeys {
 public:
  struct Action {
    enum class Kind { kNone, kQuit, kCancel };
    Kind kind = Kind::kNone;
    std::string exchange;  // that is to be cancelled
    std::string reason;
  };

  explicit TopKeys(TopModel& model) : model_(model) {}

  Action Press(const TopKey& key);

  /// Whether the user wants to read HelpLines() instead of the streams.
  bool help() const { return mode_ == Mode::kHelp; }
  /// The last line of the screen: what is asked and typed, or what may be pressed.
  std::string Prompt() const;
  static std::vector<TopLine> HelpLines();

 private:
  enum class Mode { kBrowse, kFilter, kReason, kConfirm, kHelp };

  Action Browse(const TopKey& key);
  void TypeFilter(const TopKey& key);
  void TypeReason(const TopKey& key);
  Action Confirm(const TopKey& key);

  TopModel& model_;
  Mode mode_ = Mode::kBrowse;
  std::string typed_;
  std::string victim_;       // the id of the exchange to cancel
  std::string victim_text_;  // as the user knows it
};

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_TOP_KEYS_H_
