// Memory as a kernel on the host sees it: every access must lie inside one registered region, be
// aligned to its width, read only what has been written, and no byte may be written by two warps of
// one phase, or written by one and read by another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvbudget::kernels::test {

class CheckedMemory {
 public:
  void readable(const std::string& name, const void* at, size_t bytes);
  /// What a kernel may write; its contents count as unknown until it does.
  void writable(const std::string& name, void* at, size_t bytes);
  /// Like writable, but with contents that the kernel may read.
  void readable_and_writable(const std::string& name, void* at, size_t bytes);

  void forget(const std::string& name);

  /// Between phases (launches, barriers) all warps see each other's writes.
  void next_phase();
  void set_warp(int32_t warp) { warp_ = warp; }

  const uint8_t* load(uint64_t address, uint32_t bytes);
  uint8_t* store(uint64_t address, uint32_t bytes);
  /// An atomic addition: races with nothing but plain stores.
  uint64_t* atomic(uint64_t address);

  const std::vector<std::string>& faults() const { return faults_; }
  uint64_t loads(uint32_t bytes) const { return loads_[bytes]; }
  bool was_written(const void* at) const;

 private:
  struct Region {
    std::string name;
    uint64_t begin;
    size_t bytes;
    bool may_write;
    std::vector<uint8_t> known;
    std::vector<int32_t> writer;  ///< of this phase; -1 none
    std::vector<uint8_t> touched;
  };

  Region* find(uint64_t address, uint32_t bytes, const char* access);
  void fault(const Region* region, uint64_t address, uint32_t bytes, const char* what);

  std::vector<Region> regions_;
  std::vector<std::string> faults_;
  uint64_t loads_[17] = {};
  int32_t warp_ = 0;
  alignas(16) uint8_t sink_[16] = {};  ///< where faulty accesses go
};

}  // namespace kvbudget::kernels::test
