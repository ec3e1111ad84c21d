#ifndef SLUICE_ADMIN_TOP_LAYOUT_H_
#define SLUICE_ADMIN_TOP_LAYOUT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "admin/top_model.h"
#include "admin/top_screen.h"

namespace sluice::admin {

/// What is shown around the model.
struct TopFrame {
  absl::string_view server;
  absl::Time now;
  absl::TimeZone zone;
  std::string notice;  // of what went wrong, or was done; "" if there is none
  bool mark_selected = true;
};

/// The model as at most `height` lines: about the server, its endpoints, which get a third at most,
/// and the streams around the selected one. Lines may be longer than a screen is wide: the columns
/// that matter most come first.
std::vector<TopLine> LayOutTop(const TopModel& model, const TopFrame& frame, size_t height);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_TOP_LAYOUT_H_
