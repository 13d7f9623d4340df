#include <optional>
#include <string>

#include "lint/memory/bytes.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

constexpr uint64_t kDefault = 64 * memory::kMiB;

/// Bytes that /dev/shm has; nullopt when it has enough or nobody knows.
std::optional<Located<uint64_t>> small_shared_memory(const Surroundings& around) {
  if (around.host_ipc) return std::nullopt;
  std::optional<Located<uint64_t>> bytes = Located<uint64_t>{kDefault, {}};
  if (const Mount* mount = mount_of(around, "/dev/shm"); mount != nullptr && mount->path != "/") {
    if (!mount->size_bytes) return std::nullopt;
    bytes = Located<uint64_t>{mount->size_bytes->value, mount->size_bytes->where};
  } else if (around.shm_bytes) {
    bytes = around.shm_bytes;
  }
  return bytes->value < memory::kGiB ? bytes : std::nullopt;
}

Location place_of(const Deployment& d, const Located<uint64_t>& bytes) {
  if (bytes.where) return bytes.where;
  for (const char* name :
       {"tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size"}) {
    if (d.settings.has(name)) return d.where_of(name);
  }
  return d.start.where;
}

std::string way_out(const Surroundings& around, uint64_t ranks) {
  if (around.compose) return "set ipc: host, or shm_size to 1 GiB for every GPU";
  if (!around.kubernetes) return "add --ipc=host, or --shm-size with 1 GiB for every GPU";
  return "mount emptyDir: {medium: Memory, sizeLimit: " + std::to_string(ranks) + "Gi} on /dev/shm";
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = whole_container(d);
  if (around == nullptr || d.lacks_gpus()) return;
  const uint64_t ranks = ranks_in_container(d);
  if (ranks < 2) return;
  const auto bytes = small_shared_memory(*around);
  if (!bytes) return;
  const bool one_engine = uint64_t{d.engine.tensor_parallel} * d.engine.pipeline_parallel > 1;
  const bool certain = one_engine && bytes->value <= kDefault;
  Diagnostic& finding =
      reporter.report(place_of(d, *bytes),
                      std::to_string(ranks) + " GPU ranks share data through /dev/shm, which has " +
                          memory::with_commas(bytes->value / memory::kMiB) + " MiB here",
                      certain ? Severity::kError : Severity::kWarning);
  finding.notes.push_back({way_out(*around, ranks), {}});
}

}  // namespace

extern const Rule shared_memory_missing_rule;
const Rule shared_memory_missing_rule = {
    .id = "KVB502",
    .name = "shared-memory-missing",
    .severity = Severity::kError,
    .summary = "ranks share memory through /dev/shm, which has its default of 64 MiB",
    .doc = R"md(
## What it does
Finds containers with several GPU ranks and no room in /dev/shm.

## Why it matters
Ranks pass messages and tensors through /dev/shm, and so does NCCL. With the 64 MiB that containers get by
default the engine stops ("Insufficient space in /dev/shm", "Error while creating shared memory segment") or dies
of a bus error under load.

## How it is computed
Tensor and pipeline ranks in the container, against a memory volume or a host path on /dev/shm, `hostIPC`, or
the `ipc` and `shm-size` of Compose and `docker run`. vLLM's queue between ranks alone takes 160 MiB (10 chunks of
$VLLM_MQ_MAX_CHUNK_BYTES_MB), which the engine checks from 0.27.0. A warning where the volume is smaller than
1 GiB, and where the ranks are those of data parallelism.

## Fix
A volume `emptyDir: {medium: Memory, sizeLimit: 2Gi}` for every two GPUs on /dev/shm; Compose: `ipc: host`.

## Since which engine version
All.

## References
vllm/distributed/device_communicators/shm_broadcast.py; vLLM documentation, "Using Docker"; vLLM issues 6574,
7466, 18831; production-stack issue 276.
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
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=2  # expect: KVB502
      resources: {limits: {nvidia.com/gpu: 2}}
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
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
        - --tensor-parallel-size=2
      resources: {limits: {nvidia.com/gpu: 2}}
      volumeMounts: [{name: shm, mountPath: /dev/shm}]
  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 2Gi}}]
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
