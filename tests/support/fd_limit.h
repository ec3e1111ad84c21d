#ifndef SLUICE_TESTS_SUPPORT_FD_LIMIT_H_
#define SLUICE_TESTS_SUPPORT_FD_LIMIT_H_

#include <sys/resource.h>

namespace sluice::testing {

/// Lets this process open as many descriptors as the system allows it. For tests of thousands of
/// streams.
inline void RaiseFdLimit() {
  rlimit limit;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_FD_LIMIT_H_
