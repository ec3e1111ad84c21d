#ifndef SLUICE_LIB_BASE_RELEASE_H_
#define SLUICE_LIB_BASE_RELEASE_H_

#include <string>

namespace sluice {

/// Empties `text` and gives its memory back, which clear() and the assignment of an empty string
/// keep.
inline void Release(std::string& text) { std::string().swap(text); }

}  // namespace sluice

#endif  // SLUICE_LIB_BASE_RELEASE_H_
