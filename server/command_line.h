#ifndef SLUICE_SERVER_COMMAND_LINE_H_
#define SLUICE_SERVER_COMMAND_LINE_H_

#include <string>
#include <vector>

namespace sluice::server {

/// What is wrong with the arguments of the program, its name apart: an unknown flag, a value that
/// its flag cannot have, something that is no flag. "" if nothing is. Abseil's own parser ends the
/// process on these, with a status that is not ours.
std::string CommandLineProblem(const std::vector<std::string>& arguments);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_COMMAND_LINE_H_
