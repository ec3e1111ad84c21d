#ifndef SLUICE_TESTS_DIALECT_READ_FRAME_H_
#define SLUICE_TESTS_DIALECT_READ_FRAME_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "lib/dialect/dialect.h"

namespace sluice::dialect {

inline FrameView Read(StreamReader& reader, absl::string_view data, absl::string_view event = "") {
  sse::Frame frame;
  frame.data = data;
  frame.event = event;
  return reader.Read(frame);
}

inline std::string Delta(absl::string_view members) {
  return absl::StrCat(R"({"choices":[{"index":0,"delta":{)", members,
                      R"(},"finish_reason":null}]})");
}

}  // namespace sluice::dialect

#endif  // SLUICE_TESTS_DIALECT_READ_FRAME_H_
