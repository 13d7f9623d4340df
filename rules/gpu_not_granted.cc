#include <algorithm>

#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

bool is_whole(std::string_view quantity) {
  return quantity.find_first_not_of("0123456789") == std::string_view::npos ||
         quantity.find('$') != std::string_view::npos;
}

bool sees_devices(const Deployment& d, const Surroundings& around) {
  if (around.other_gpu_access || !d.start.gpu.resource.empty() || d.start.gpu.count) return true;
  for (const char* name : {"NVIDIA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    if (d.env(name) != nullptr) return true;
  }
  return std::any_of(around.mounts.begin(), around.mounts.end(), [](const Mount& mount) {
    return mount.path.starts_with("/dev/") && mount.path != "/dev/shm";
  });
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = whole_container(d);
  if (around == nullptr || !is_official_cuda_image(d) || d.settings.text("device") == "cpu") return;
  if (around->gpu_quantity && !is_whole(around->gpu_quantity->value)) {
    reporter.report(
        around->gpu_quantity->where,
        "nvidia.com/gpu is " + around->gpu_quantity->value + "; Kubernetes takes whole GPUs only");
  } else if (around->gpu_quantity && !around->gpu_in_limits) {
    reporter.report(around->gpu_quantity->where,
                    "nvidia.com/gpu is requested without a limit, which Kubernetes refuses");
  } else if (is_service(d) && !sees_devices(d, *around)) {
    Diagnostic& finding =
        reporter.report(d.start.image->location(),
                        "the container of this CUDA image asks for no GPU", Severity::kWarning);
    finding.notes.push_back({around->compose ? "add gpus: all, or a reservation of devices"
                                             : "add resources: {limits: {nvidia.com/gpu: 1}}",
                             {}});
  }
}

}  // namespace

extern const Rule gpu_not_granted_rule;
const Rule gpu_not_granted_rule = {
    .id = "KVB511",
    .name = "gpu-not-granted",
    .severity = Severity::kError,
    .summary = "the container is given no GPU",
    .doc = R"md(
## What it does
Finds engines of CUDA images whose container asks for no GPU, or in a way that Kubernetes refuses.

## Why it matters
The API server refuses a pod whose GPU stands in the requests alone, or is a fraction. A container without a GPU
ends with "Failed to infer device type".

## How it is computed
For vLLM's own CUDA image. `nvidia.com/gpu` in requests without the same limit, and quantities that are not whole,
are errors. No GPU at all is a warning, since a runtime may give every container all GPUs; silent with a runtime
class, resource claims, device plugins of other names, privileges, $NVIDIA_VISIBLE_DEVICES or
$CUDA_VISIBLE_DEVICES, and Compose's `gpus`, `devices` and `runtime`; bare Pods are left alone.

## Fix
`resources: {limits: {nvidia.com/gpu: 1}}`; Compose: `gpus: all`, or a reservation of devices.

## Since which engine version
All.

## References
Kubernetes documentation, "Schedule GPUs"; vLLM issue 23661; production-stack issue 649.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
      resources:
        requests:
          nvidia.com/gpu: 1  # expect: KVB511
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
