#ifndef SLUICE_TESTS_SUPPORT_FILE_SIZE_LIMIT_H_
#define SLUICE_TESTS_SUPPORT_FILE_SIZE_LIMIT_H_

#include <signal.h>
#include <sys/resource.h>

namespace sluice::testing {

/// While one lives, no file of this process grows beyond so many bytes: a disk that is full, but
/// for the error (EFBIG). That of the test's own output neither, so do not print meanwhile.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_signal_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, before_signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*before_signal_)(int);
  rlimit before_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TESTS_SUPPORT_FILE_SIZE_LIMIT_H_
