#include <array>
#include <charconv>

#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

constexpr Version kCuda13{0, 20, 0};
constexpr uint32_t kCuda13Driver = 580;

std::string_view other_vendor(std::string_view resource) {
  struct Vendor {
    std::string_view prefix;
    std::string_view name;
  };
  constexpr std::array<Vendor, 6> kVendors = {{{"amd.com/", "AMD"},
                                               {"habana.ai/", "Gaudi"},
                                               {"gpu.intel.com/", "Intel"},
                                               {"google.com/tpu", "Google TPU"},
                                               {"aws.amazon.com/neuron", "AWS Neuron"},
                                               {"huawei.com/", "Ascend"}}};
  for (const Vendor& vendor : kVendors) {
    if (resource.starts_with(vendor.prefix)) return vendor.name;
  }
  return {};
}

void check_capability(const Deployment& d, const std::string& image, Reporter& reporter) {
  if (!d.gpu || d.gpu->vendor != "nvidia" || d.gpu->capability.major == 0) return;
  const bool newer = d.version >= kCuda13;
  const ComputeCapability least = newer ? ComputeCapability{7, 5} : ComputeCapability{7, 0};
  if (d.gpu->capability >= least) return;
  Diagnostic& finding = reporter.report(
      d.start.image->location(),
      image + " is built for compute capability " + std::to_string(least.major) + "." +
          std::to_string(least.minor) + " and up; " + d.gpu->name + " has " +
          std::to_string(d.gpu->capability.major) + "." + std::to_string(d.gpu->capability.minor),
      d.version_assumed ? Severity::kWarning : Severity::kError);
  if (d.gpu->capability >= ComputeCapability{7, 0}) {
    finding.notes.push_back({"the last release with an image for this card is 0.19.1", {}});
  }
}

void check_driver(const Deployment& d, const std::string& image, Reporter& reporter) {
  if (d.version < kCuda13 || d.version_assumed) return;
  if (image_of(d)->tag.find("cu12") != std::string_view::npos) return;
  const EnvVar* compatibility = d.env("VLLM_ENABLE_CUDA_COMPATIBILITY");
  if (compatibility != nullptr && compatibility->value.view() != "0") return;
  for (const NodeLabel& label : d.start.around->node_labels) {
    if (label.name != "nvidia.com/cuda.driver.major" &&
        label.name != "nvidia.com/cuda.driver-version.major") {
      continue;
    }
    const std::string& text = label.value.value;
    uint32_t driver = 0;
    std::from_chars(text.data(), text.data() + text.size(), driver);
    if (driver == 0 || driver >= kCuda13Driver) continue;
    reporter.report(label.value.where, image + " holds CUDA 13.0, which needs driver " +
                                           std::to_string(kCuda13Driver) +
                                           "; these nodes have driver " + text);
  }
}

void check_vendor(const Deployment& d, const std::string& image, bool for_cuda,
                  Reporter& reporter) {
  for (const Located<std::string>& device : d.start.around->devices) {
    const std::string_view other = other_vendor(device.value);
    const bool nvidia = device.value.starts_with("nvidia.com/gpu");
    if (for_cuda ? other.empty() : !nvidia) continue;
    reporter.report(device.where, image + " is built for " + (for_cuda ? "CUDA" : "ROCm") + "; " +
                                      device.value + " is a device of " +
                                      (nvidia ? "NVIDIA" : std::string(other)));
    return;
  }
}

void check(const Deployment& d, Reporter& reporter) {
  const auto name = image_of(d);
  if (!name) return;
  const bool cuda = is_official_cuda_image(d);
  const bool rocm =
      name->repository.ends_with("vllm-openai-rocm") || name->repository.ends_with("rocm/vllm");
  const std::string image = d.start.image->str();
  if (cuda && name->tag.starts_with("v")) check_capability(d, image, reporter);
  if (d.start.around == nullptr) return;
  if (cuda) check_driver(d, image, reporter);
  if (cuda || rocm) check_vendor(d, image, cuda, reporter);
}

}  // namespace

extern const Rule image_gpu_driver_mismatch_rule;
const Rule image_gpu_driver_mismatch_rule = {
    .id = "KVB505",
    .name = "image-gpu-driver-mismatch",
    .severity = Severity::kError,
    .summary = "the image is not built for the card, its vendor or its driver",
    .doc = R"md(
## What it does
Compares what vLLM's own CUDA images are built for with the card, the resource that is asked for and the driver
of the nodes.

## Why it matters
"no kernel image is available for execution on the device", "The NVIDIA driver on your system is too old", or no
device at all: the engine stops at its start.

## How it is computed
The images hold code for compute capability 7.0 and up, from 0.20.0 for 7.5 and up (V100 was dropped), also in
their CUDA 12.9 builds. Their CUDA is 13.0 from 0.20.0, which needs driver 580; builds tagged `cu129` are exempt,
as is $VLLM_ENABLE_CUDA_COMPATIBILITY. The driver is that of the node labels `nvidia.com/cuda.driver.major` and
`nvidia.com/cuda.driver-version.major`. Images for CUDA are compared with resources of other vendors, images for
ROCm with `nvidia.com/gpu`. Images of others are not judged.

## Fix
The last release whose image has the card (0.19.1 for V100), a `-cu129` tag, or a newer driver.

## Since which engine version
All.

## References
docker/Dockerfile and .buildkite/release-pipeline.yaml of vLLM (torch_cuda_arch_list, CUDA_ARCH_X86); vLLM pull
request 39878; CUDA 13.0 release notes, table of driver versions.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-v100}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.20.0  # expect: KVB505
      args: ["--model=Qwen/Qwen2.5-1.5B-Instruct", "--dtype=half", "--max-model-len=8192"]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-v100}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.1
      args: ["--model=Qwen/Qwen2.5-1.5B-Instruct", "--dtype=half", "--max-model-len=8192"]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
