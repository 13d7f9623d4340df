// GPUs: memory as CUDA reports it, compute capability, and the many names people give them in
// deployment files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvbudget {

struct ComputeCapability {
  uint8_t major = 0;
  uint8_t minor = 0;
  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

struct Gpu {
  std::string name;              ///< our name: "H100-80GB"
  uint64_t memory_bytes = 0;     ///< total memory as cudaMemGetInfo reports it
  ComputeCapability capability;  ///< 0.0 on other vendors' cards
  std::string vendor;            ///< "nvidia", "amd", "intel"
  std::string device_name;       ///< what torch.cuda.get_device_name gives: "NVIDIA H100 80GB HBM3"
  std::string source;            ///< where memory_bytes was seen, with date or version
  /// Lowest and highest reading seen: drivers, ECC and WSL change it. Equal to memory_bytes when
  /// the memory was given by the user.
  uint64_t memory_low_bytes = 0;
  uint64_t memory_high_bytes = 0;
  /// A MIG slice: a process sees one of them and NCCL joins none, so that nothing can be divided
  /// over several (NVIDIA's MIG user guide, application considerations).
  bool is_slice() const { return name.find("-MIG-") != std::string::npos; }
};

/// Cards and MIG slices ("H100-80GB-MIG-3g.40gb"), in the order of the table.
std::span<const Gpu> all_gpus();
/// Exact or well-known spelling of a card: "H100", "nvidia-h100-80gb", "NVIDIA-H100-80GB-HBM3",
/// "a100-40", "rtx 4090". A name that fits several sizes (plain "A100") is nullptr.
const Gpu* find_gpu(std::string_view name);
/// Every card that a spelling may mean: one when find_gpu finds it, several for plain "A100" or
/// "mig-3g.40gb", none for an unknown name.
std::vector<const Gpu*> gpu_candidates(std::string_view name);

/// Machines of the clouds: "g2-standard-12" -> L4 x 1, "p5.48xlarge" -> H100-80GB x 8.
struct InstanceType {
  std::string name;
  std::string gpu;
  uint32_t count = 0;
};
std::optional<InstanceType> find_instance_type(std::string_view name);

}  // namespace kvbudget
