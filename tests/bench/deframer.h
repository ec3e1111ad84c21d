#ifndef SLUICE_TESTS_BENCH_DEFRAMER_H_
#define SLUICE_TESTS_BENCH_DEFRAMER_H_

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <strings.h>

namespace sluice::bench {

/// Takes the framing off answers that come one after another: heads, lengths, chunks.
class Deframer {
 public:
  bool refused() const { return refused_; }  // whether any answer was not a 200

  /// Appends body bytes of `bytes` to `*body`; returns how many answers ended in them.
  int Feed(const char* bytes, size_t size, std::string* body) {
    int ended = 0;
    for (size_t i = 0; i < size;) {
      if (data_left_ > 0) {
        const size_t count = std::min<size_t>(data_left_, size - i);
        body->append(bytes + i, count);
        i += count;
        data_left_ -= count;
        if (data_left_ == 0 && !chunked_) {
          in_head_ = true;
          ++ended;
        }
        continue;
      }
      const char byte = bytes[i++];
      line_.push_back(byte);
      if (byte != '\n') continue;
      ended += TakeLine() ? 1 : 0;
      line_.clear();
    }
    return ended;
  }

 private:
  /// Whether the line ended an answer.
  bool TakeLine() {
    if (in_head_) {
      if (line_.starts_with("HTTP/1.") && !line_.starts_with("HTTP/1.1 200")) refused_ = true;
      if (strncasecmp(line_.c_str(), "transfer-encoding:", 18) == 0) chunked_ = true;
      if (strncasecmp(line_.c_str(), "content-length:", 15) == 0) {
        chunked_ = false;
        length_ = std::strtoull(line_.c_str() + 15, nullptr, 10);
      }
      if (line_ == "\r\n") {
        in_head_ = false;
        if (!chunked_) data_left_ = length_;
      }
      return false;
    }
    if (last_chunk_) {
      last_chunk_ = false;
      in_head_ = true;
      return true;
    }
    if (line_ == "\r\n") return false;  // behind a chunk's data
    data_left_ = std::strtoull(line_.c_str(), nullptr, 16);
    last_chunk_ = data_left_ == 0;
    return false;
  }

  std::string line_;
  bool in_head_ = true;
  bool refused_ = false;
  bool chunked_ = false;
  bool last_chunk_ = false;
  size_t length_ = 0;
  size_t data_left_ = 0;
};

}  // namespace sluice::bench

#endif  // SLUICE_TESTS_BENCH_DEFRAMER_H_
