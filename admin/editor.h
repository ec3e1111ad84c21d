#ifndef SLUICE_ADMIN_EDITOR_H_
#define SLUICE_ADMIN_EDITOR_H_

#include <string>

namespace sluice::admin {

/// Runs `editor`, a command of the shell, on the file `path` and waits for its end. It has our
/// terminal and the signals as a program of the user's has them. Whether it ended well.
bool RunEditor(const std::string& editor, const std::string& path);

}  // namespace sluice::admin

#endif  // SLUICE_ADMIN_EDITOR_H_
