#ifndef SLUICE_LIB_RUNTIME_BUFFER_POOL_H_
#define SLUICE_LIB_RUNTIME_BUFFER_POOL_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace sluice::runtime {

/// Read buffers of one loop. A fiber holds one from the read until its bytes have been passed on,
/// so as long as nobody's client is slow the whole loop reads into the same one. Confined to the
/// loop's thread, which every lease must leave alive.
class BufferPool {
 public:
  static constexpr size_t kBufferBytes = size_t{32} << 10;

  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept : pool_(other.pool_), buffer_(std::move(other.buffer_)) {}
    Lease& operator=(Lease&& other) noexcept {
      Release();
      pool_ = other.pool_;
      buffer_ = std::move(other.buffer_);
      return *this;
    }
    ~Lease() { Release(); }

    explicit operator bool() const { return buffer_ != nullptr; }
    char* data() const { return buffer_.get(); }
    static constexpr size_t size() { return kBufferBytes; }
    void Release() {
      if (buffer_ != nullptr) pool_->Return(std::move(buffer_));
    }

   private:
    friend class BufferPool;
    Lease(BufferPool* pool, std::unique_ptr<char[]> buffer)
        : pool_(pool), buffer_(std::move(buffer)) {}
    BufferPool* pool_ = nullptr;
    std::unique_ptr<char[]> buffer_;
  };

  Lease Take() {
    if (free_.empty()) return Lease(this, std::make_unique_for_overwrite<char[]>(kBufferBytes));
    std::unique_ptr<char[]> buffer = std::move(free_.back());
    free_.pop_back();
    return Lease(this, std::move(buffer));
  }

 private:
  static constexpr size_t kKept = 8;

  void Return(std::unique_ptr<char[]> buffer) {
    if (free_.size() < kKept) {
      free_.push_back(std::move(buffer));
    } else {
      buffer.reset();
    }
  }

  std::vector<std::unique_ptr<char[]>> free_;
};

}  // namespace sluice::runtime

#endif  // SLUICE_LIB_RUNTIME_BUFFER_POOL_H_
