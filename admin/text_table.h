#ifndef SLUICE_ADMIN_TEXT_TABLE_H_
#define SLUICE_ADMIN_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace sluice::admin {

/// The columns `text` takes in a terminal: its characters, each taken to be one column wide. `text`
/// is UTF-8 that was escaped.
size_t DisplayWidth(absl::string_view text);

/// `text` in exactly `width` columns: filled up with spaces, or cut, which a `~` at its end shows.
std::string Fit(absl::string_view text, size_t width, bool right);

/// Rows in columns that line up, two spaces apart, under a head. Cells must be escaped already.
class TextTable {
 public:
  struct Column {
    absl::string_view title;
    bool right = false;  // numbers
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell for each column.
  void AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// The head and each row on a line of its own; no line ends in a space.
  std::string Text() const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_TEXT_TABLE_H_
