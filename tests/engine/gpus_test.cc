// GPUs under the names that deployment files give them. The spellings are those of GKE and AKS
// labels, GPU feature discovery, Karpenter, SkyPilot, dstack, KubeAI, Volcano Engine and of people.
#include "lint/engine/gpus.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "tests/support/shared.h"

namespace kvbudget {
namespace {

namespace fs = std::filesystem;

struct Spelling {
  const char* text;
  const char* gpu;  // empty when the spelling must stay unresolved
};

void check(std::initializer_list<Spelling> spellings) {
  for (const Spelling& spelling : spellings) {
    CAPTURE(spelling.text);
    const Gpu* gpu = find_gpu(spelling.text);
    CHECK((gpu ? gpu->name : "") == spelling.gpu);
  }
}

std::set<std::string> names(std::string_view spelling) {
  std::set<std::string> result;
  for (const Gpu* gpu : gpu_candidates(spelling)) result.insert(gpu->name);
  return result;
}

double gib(uint64_t bytes) { return static_cast<double>(bytes) / 1073741824.0; }

}  // namespace

TEST_CASE("every row of the GPU table is whole and its readings are in order") {
  REQUIRE(all_gpus().size() > 100);
  std::set<std::string> seen;
  for (const Gpu& gpu : all_gpus()) {
    CAPTURE(gpu.name);
    CHECK(seen.insert(gpu.name).second);
    CHECK(gpu.memory_bytes > (uint64_t{4} << 30));
    CHECK(gpu.memory_low_bytes <= gpu.memory_bytes);
    CHECK(gpu.memory_bytes <= gpu.memory_high_bytes);
    CHECK(gib(gpu.memory_high_bytes - gpu.memory_low_bytes) < 4.0);
    CHECK((gpu.capability.major > 0) == (gpu.vendor == "nvidia"));
    CHECK(!gpu.device_name.empty());
    CHECK(!gpu.source.empty());
  }
}

TEST_CASE("a GPU is found by its own name") {
  for (const Gpu& gpu : all_gpus()) {
    CAPTURE(gpu.name);
    CHECK(find_gpu(gpu.name) == &gpu);
  }
}

TEST_CASE("a GPU is found by the device name that PyTorch gives") {
  for (const Gpu& gpu : all_gpus()) {
    CAPTURE(gpu.device_name);
    const std::set<std::string> found = names(gpu.device_name);
    // A modified card of 48 GB still says it is a plain 4090.
    if (gpu.name == "RTX-4090-48GB") continue;
    CHECK(found == std::set<std::string>{gpu.name});
  }
}

TEST_CASE("memory is what CUDA reports, not what the box says") {
  CHECK(gib(find_gpu("H100-80GB")->memory_bytes) == Approx(79.19).margin(0.005));
  CHECK(gib(find_gpu("L4")->memory_bytes) == Approx(22.03).margin(0.005));
  CHECK(gib(find_gpu("T4")->memory_bytes) == Approx(14.56).margin(0.005));
  CHECK(find_gpu("H200")->memory_bytes == uint64_t{143156} << 20);
  CHECK(find_gpu("L4")->capability == ComputeCapability{8, 9});
  CHECK(find_gpu("GB10")->capability == ComputeCapability{12, 1});
  CHECK(find_gpu("A100-80GB")->capability < ComputeCapability{8, 9});
}

TEST_CASE("labels of Kubernetes platforms name a GPU") {
  check({
      {"nvidia-l4", "L4"},
      {"nvidia-tesla-t4", "T4"},
      {"nvidia-tesla-a100", "A100-40GB"},
      {"nvidia-tesla-v100", "V100-16GB"},
      {"nvidia-tesla-p100", "P100-16GB"},
      {"nvidia-a100-80gb", "A100-80GB"},
      {"nvidia-h100-80gb", "H100-80GB"},
      {"nvidia-h100-mega-80gb", "H100-80GB"},
      {"nvidia-h200-141gb", "H200-141GB"},
      {"nvidia-b200", "B200"},
      {"nvidia-gb200", "GB200"},
      {"nvidia-rtx-pro-6000", "RTX-PRO-6000"},
      {"NVIDIA-H100-80GB-HBM3", "H100-80GB"},
      {"NVIDIA-H100-PCIe", "H100-80GB"},
      {"NVIDIA-H100-NVL", "H100-94GB"},
      {"NVIDIA-H200", "H200-141GB"},
      {"NVIDIA-H200-NVL", "H200-141GB"},
      {"NVIDIA-H20", "H20-96GB"},
      {"NVIDIA-H20-3e", "H20-141GB"},
      {"NVIDIA-A100-SXM4-40GB", "A100-40GB"},
      {"NVIDIA-A100-SXM4-80GB", "A100-80GB"},
      {"NVIDIA-A100-80GB-PCIe", "A100-80GB"},
      {"NVIDIA-A100-PCIE-40GB", "A100-40GB"},
      {"NVIDIA-A10G", "A10G"},
      {"NVIDIA-A10G-SHARED", "A10G"},
      {"Tesla-T4", "T4"},
      {"Tesla-T4-SHARED", "T4"},
      {"Tesla-V100-SXM2-32GB", "V100-32GB"},
      {"NVIDIA-L40S", "L40S"},
      {"NVIDIA-L20", "L20"},
      {"NVIDIA-GH200-480GB", "GH200-96GB"},
      {"NVIDIA-GB10", "GB10"},
      {"NVIDIA-GeForce-RTX-4090", "RTX-4090"},
      {"NVIDIA-GeForce-RTX-4090-D", "RTX-4090-D"},
      {"NVIDIA-RTX-A6000", "RTX-A6000"},
      {"NVIDIA-RTX-6000-Ada-Generation", "RTX-6000-Ada"},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "RTX-PRO-6000"},
      {"Quadro-RTX-6000", "Quadro-RTX-6000"},
      {"A100_NVLINK_80GB", "A100-80GB"},
      {"A100_NVLINK", "A100-80GB"},
      {"A100_PCIE_40GB", "A100-40GB"},
      {"H100_NVLINK_80GB", "H100-80GB"},
      {"RTX_A5000", "RTX-A5000"},
      {"rtx-pro-server-6000", "RTX-PRO-6000"},
      {"Tesla-A100-80G", "A100-80GB"},
      {"AMD-Instinct-MI300X", "MI300X"},
      {"AMD_Instinct_MI300X_OAM", "MI300X"},
  });
}

TEST_CASE("accelerator names of launchers name a GPU") {
  check({
      {"a10g", "A10G"},
      {"A10g", "A10G"},
      {"A10", "A10"},
      {"l40s", "L40S"},
      {"A100-80GB", "A100-80GB"},
      {"A100-80GB-SXM", "A100-80GB"},
      {"A100-80G", "A100-80GB"},
      {"H100-SXM", "H100-80GB"},
      {"H100-MEGA", "H100-80GB"},
      {"H200-SXM", "H200-141GB"},
      {"V100-32GB", "V100-32GB"},
      {"RTXA6000", "RTX-A6000"},
      {"RTX6000-Ada", "RTX-6000-Ada"},
      {"RTXPRO6000", "RTX-PRO-6000"},
      {"nvidia-gpu-l4", "L4"},
      {"nvidia-gpu-a100-80gb", "A100-80GB"},
      {"nvidia-gpu-gh200", "GH200-96GB"},
      {"nvidia-gpu-rtx4070-8gb", "RTX-4070-Laptop"},
      {"amd-gpu-mi300x", "MI300X"},
      {"mi355x", "MI355X"},
      {"gb300", "GB300"},
  });
}

TEST_CASE("what people write names a GPU") {
  check({
      {"rtx 4090", "RTX-4090"},
      {"RTX4090", "RTX-4090"},
      {"4090", "RTX-4090"},
      {"RTX 4090 24GB", "RTX-4090"},
      {"RTX 4090 (24 GB)", "RTX-4090"},
      {"4090 48GB", "RTX-4090-48GB"},
      {"3090", "RTX-3090"},
      {"3090ti", "RTX-3090-Ti"},
      {"rtx 5090", "RTX-5090"},
      {"RTX 4060 Ti 16GB", "RTX-4060-Ti-16GB"},
      {"h100", "H100-80GB"},
      {"h100 sxm", "H100-80GB"},
      {"NVIDIA H100 80GB HBM3", "H100-80GB"},
      {"h100-nvl-94gb", "H100-94GB"},
      {"a100-40", "A100-40GB"},
      {"a100 80", "A100-80GB"},
      {"A100 SXM4 80GB", "A100-80GB"},
      {"a6000", "RTX-A6000"},
      {"rtx 6000 ada 48gb", "RTX-6000-Ada"},
      {"L4 24GB", "L4"},
      {"t4 16gb", "T4"},
      {"h20 141gb", "H20-141GB"},
      {"DGX Spark", "GB10"},
      {"Radeon RX 7900 XTX", "RX-7900-XTX"},
      {"MI300X 192GB", "MI300X"},
      {"b200 180gb", "B200"},
      {"b200 192gb", "B200"},
  });
}

TEST_CASE("a MIG slice is not its card") {
  check({
      {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "A100-40GB-MIG-1g.5gb"},
      {"NVIDIA-A100-SXM4-80GB-MIG-1g.10gb-SHARED", "A100-80GB-MIG-1g.10gb"},
      {"NVIDIA-H100-80GB-HBM3-MIG-3g.40gb", "H100-80GB-MIG-3g.40gb"},
      {"NVIDIA H100 80GB HBM3 MIG 1g.10gb+me", "H100-80GB-MIG-1g.10gb"},
      {"H100-1g.10gb", "H100-80GB-MIG-1g.10gb"},
      {"A100-MIG-1g.5gb", "A100-40GB-MIG-1g.5gb"},
      {"nvidia.com/mig-4g.71gb", "H200-141GB-MIG-4g.71gb"},
      {"mig-1g.18gb", "H200-141GB-MIG-1g.18gb"},
      {"nvidia.com/mig-1g.10gb.me", ""},
      {"NVIDIA-L4-MIG-1g.10gb", ""},
  });
  CHECK(names("mig-3g.40gb") ==
        std::set<std::string>{"A100-80GB-MIG-3g.40gb", "H100-80GB-MIG-3g.40gb"});
}

TEST_CASE("a name that fits several sizes stays open and lists them") {
  check(
      {{"A100", ""}, {"nvidia-gpu-a100", ""}, {"Tesla-V100", ""}, {"A800", ""}, {"RTX 6000", ""}});
  CHECK(names("A100") == std::set<std::string>{"A100-40GB", "A100-80GB"});
  CHECK(names("Tesla V100 SXM2") == std::set<std::string>{"V100-16GB", "V100-32GB"});
  CHECK(names("rtx6000") == std::set<std::string>{"Quadro-RTX-6000", "RTX-6000-Ada"});
}

TEST_CASE("what is no known GPU stays unknown") {
  check({
      {"", ""},
      {"-", ""},
      {"gpu", ""},
      {"nvidia", ""},
      {"nvidia.com/gpu", ""},
      {"h100-96gb", ""},
      {"l4-80gb", ""},
      {"80gb", ""},
      {"${GPU_TYPE}", ""},
      {"{{ .Values.gpu }}", ""},
      {"tpu-v5-lite-podslice", ""},
      {"google-tpu-v5e-1x1", ""},
      {"gaudi3", ""},
      {"cpu", ""},
      {"4096", ""},
      {"1g.gb", ""},
      {"g.10gb", ""},
      {"99999999999999999999gb", ""},
  });
}

TEST_CASE("machine types name their GPUs and how many") {
  struct Machine {
    const char* type;
    const char* gpu;
    uint32_t count;
  };
  for (const Machine& machine : std::initializer_list<Machine>{
           {"g2-standard-12", "L4", 1},
           {"g2-standard-96", "L4", 8},
           {"a2-highgpu-4g", "A100-40GB", 4},
           {"a2-ultragpu-1g", "A100-80GB", 1},
           {"a3-megagpu-8g", "H100-80GB", 8},
           {"a3-ultragpu-8g", "H200-141GB", 8},
           {"a4-highgpu-8g", "B200", 8},
           {"g4-standard-48", "RTX-PRO-6000", 1},
           {"g5.12xlarge", "A10G", 4},
           {"g6.xlarge", "L4", 1},
           {"g6e.48xlarge", "L40S", 8},
           {"p4d.24xlarge", "A100-40GB", 8},
           {"p4de.24xlarge", "A100-80GB", 8},
           {"p5.48xlarge", "H100-80GB", 8},
           {"p5en.48xlarge", "H200-141GB", 8},
           {"Standard_NC24ads_A100_v4", "A100-80GB", 1},
           {"NC48ads_A100_v4", "A100-80GB", 2},
           {"standard_nc80adis_h100_v5", "H100-94GB", 2},
           {"Standard_ND96asr_v4", "A100-40GB", 8},
           {"BM.GPU.H100.8", "H100-80GB", 8},
           {"ecs.gn7i-c32g1.8xlarge", "A10", 1},
           {"gpu_8x_a100_80gb_sxm4", "A100-80GB", 8},
       }) {
    CAPTURE(machine.type);
    const std::optional<InstanceType> found = find_instance_type(machine.type);
    REQUIRE(found);
    CHECK(found->gpu == machine.gpu);
    CHECK(found->count == machine.count);
    CHECK(find_gpu(found->gpu) != nullptr);
  }
}

TEST_CASE("machine types without a whole GPU are unknown") {
  for (const char* type : {"", "n2-standard-8", "ecs.g3il.xlarge", "m5.large",
                           "Standard_NV6ads_A10_v5", "g6f.large", "g5", "standard_"}) {
    CAPTURE(type);
    CHECK(!find_instance_type(type));
  }
}

namespace {

/// Spellings in the `gpu` column of the corpus: "gke-accelerator=nvidia-l4; names: l4,a10g".
std::set<std::string> corpus_spellings(const fs::path& manifest) {
  std::set<std::string> spellings;
  std::ifstream file(manifest);
  for (std::string line; std::getline(file, line);) {
    std::stringstream cells(line);
    std::string cell;
    for (int column = 0; column < 8; ++column) std::getline(cells, cell, '\t');
    std::stringstream facts(cell);
    for (std::string fact; std::getline(facts, fact, ';');) {
      const size_t names_at = fact.find("names: ");
      const size_t key_at = std::min({fact.find("gke-accelerator="), fact.find("gpu.product="),
                                      fact.find("gpu-name="), fact.find("requestGPUType="),
                                      fact.find("resourceProfile=")});
      if (names_at == std::string::npos && key_at == std::string::npos) continue;
      std::stringstream words(names_at != std::string::npos ? fact.substr(names_at + 7)
                                                            : fact.substr(fact.find('=') + 1));
      for (std::string word; std::getline(words, word, ',');) {
        spellings.insert(word.substr(0, word.find(':')));
      }
    }
  }
  return spellings;
}

}  // namespace

TEST_CASE("every GPU spelling of the corpus is found or known to be open", "[corpus]") {
  const fs::path manifest = test::shared_path("corpus/configs/MANIFEST.tsv");
  if (!test::shared_exists(manifest)) return;
  // Other kinds of chips, a resource that names no card, and names that fit several sizes.
  const std::set<std::string> open = {
      "a100", "v100", "mi300",      "a3",       "amd.com/gpu", "ascend", "cpu",    "gaudi",
      "inf2", "trn1", "inferentia", "trainium", "trainium2",   "spyre",  "tpu-v5", "tpu-v5e"};
  size_t found = 0;
  for (std::string spelling : corpus_spellings(manifest)) {
    CAPTURE(spelling);
    if (open.count(spelling) || spelling.find("tpu") != std::string::npos) {
      CHECK(find_gpu(spelling) == nullptr);
      continue;
    }
    if (const size_t times = spelling.find("x "); times == 1) spelling.erase(0, 3);
    CHECK(find_gpu(spelling) != nullptr);
    ++found;
  }
  CHECK(found >= 25);
}

}  // namespace kvbudget
