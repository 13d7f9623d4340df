#include "tests/kernels/checked_memory.h"

#include <algorithm>

namespace kvbudget::kernels::test {

void CheckedMemory::readable(const std::string& name, const void* at, size_t bytes) {
  regions_.push_back({name, reinterpret_cast<uint64_t>(at), bytes, false,
                      std::vector<uint8_t>(bytes, 1), std::vector<int32_t>(bytes, -1),
                      std::vector<uint8_t>(bytes, 0)});
}

void CheckedMemory::readable_and_writable(const std::string& name, void* at, size_t bytes) {
  readable(name, at, bytes);
  regions_.back().may_write = true;
}

void CheckedMemory::writable(const std::string& name, void* at, size_t bytes) {
  readable_and_writable(name, at, bytes);
  std::fill(regions_.back().known.begin(), regions_.back().known.end(), uint8_t{0});
}

void CheckedMemory::forget(const std::string& name) {
  regions_.erase(std::remove_if(regions_.begin(), regions_.end(),
                                [&](const Region& region) { return region.name == name; }),
                 regions_.end());
}

void CheckedMemory::next_phase() {
  for (Region& region : regions_) std::fill(region.writer.begin(), region.writer.end(), -1);
}

const uint8_t* CheckedMemory::load(uint64_t address, uint32_t bytes) {
  ++loads_[bytes];
  Region* region = find(address, bytes, "load");
  if (region == nullptr) return sink_;
  const size_t first = address - region->begin;
  for (size_t i = first; i < first + bytes; ++i) {
    if (!region->known[i]) {
      fault(region, address, bytes, "load of what was never written");
      break;
    }
    if (region->writer[i] >= 0 && region->writer[i] != warp_) {
      fault(region, address, bytes, "load of another warp's write without a barrier");
      break;
    }
  }
  return reinterpret_cast<const uint8_t*>(address);
}

uint8_t* CheckedMemory::store(uint64_t address, uint32_t bytes) {
  Region* region = find(address, bytes, "store");
  if (region == nullptr) return sink_;
  if (!region->may_write) {
    fault(region, address, bytes, "store to what is only read");
    return sink_;
  }
  const size_t first = address - region->begin;
  for (size_t i = first; i < first + bytes; ++i) {
    if (region->writer[i] >= 0) {
      fault(region, address, bytes, "second store of one phase");
      break;
    }
  }
  for (size_t i = first; i < first + bytes; ++i) {
    region->known[i] = 1;
    region->touched[i] = 1;
    region->writer[i] = warp_;
  }
  return reinterpret_cast<uint8_t*>(address);
}

uint64_t* CheckedMemory::atomic(uint64_t address) {
  Region* region = find(address, 8, "atomic");
  if (region == nullptr) return reinterpret_cast<uint64_t*>(sink_);
  return reinterpret_cast<uint64_t*>(address);
}

bool CheckedMemory::was_written(const void* at) const {
  const uint64_t address = reinterpret_cast<uint64_t>(at);
  for (const Region& region : regions_) {
    if (address >= region.begin && address - region.begin < region.bytes)
      return region.touched[address - region.begin] != 0;
  }
  return false;
}

CheckedMemory::Region* CheckedMemory::find(uint64_t address, uint32_t bytes, const char* access) {
  if (address % bytes != 0)
    fault(nullptr, address, bytes, (std::string("misaligned ") + access).c_str());
  for (Region& region : regions_) {
    if (address >= region.begin && address + bytes <= region.begin + region.bytes) return &region;
  }
  fault(nullptr, address, bytes, (std::string(access) + " outside of all regions").c_str());
  return nullptr;
}

void CheckedMemory::fault(const Region* region, uint64_t address, uint32_t bytes,
                          const char* what) {
  constexpr size_t kEnough = 10;
  if (faults_.size() >= kEnough) return;
  std::string text = what;
  text += ", " + std::to_string(bytes) + " bytes";
  if (region != nullptr)
    text += " at " + region->name + " + " + std::to_string(address - region->begin);
  faults_.push_back(text);
}

}  // namespace kvbudget::kernels::test
