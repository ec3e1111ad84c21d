#ifndef SLUICE_SERVER_DURABLE_FILE_H_
#define SLUICE_SERVER_DURABLE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sluice::server {

/// Puts a file `name` with `text` into the directory open at `directory`, for the owner alone. It
/// is there whole when this returns, whatever happens to the machine then; and at no moment before,
/// nor after an error, is there a part of it under that name. Meanwhile the text is in the file
/// `unfinished`, which an interrupted call leaves behind for the next one to replace. One caller at
/// a time.
absl::Status WriteDurably(int directory, const std::string& name, absl::string_view text,
                          const std::string& unfinished);

}  // namespace sluice::server

#endif  // SLUICE_SERVER_DURABLE_FILE_H_
