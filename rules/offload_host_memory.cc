#include <cstdlib>
#include <optional>

#include "lint/engine/json_text.h"
#include "lint/memory/bytes.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

constexpr double kMostGib = 1e6;
constexpr double kMeasuredTimes = 1.95;  // vLLM issues 53042 and 56410

struct Pool {
  std::string name;
  Location where;
  double gib = 0.0;
  bool shared_memory = false;
};

// Host pools that a start asks for; `ranks` of them where each rank has one.
std::vector<Pool> pools_of(const Deployment& d, double ranks) {
  std::vector<Pool> pools;
  const auto add = [&](std::string name, Location where, std::optional<double> gib, double times,
                       bool shared_memory) {
    if (!gib || *gib <= 0.0 || *gib > kMostGib) return;
    pools.push_back({std::move(name), where, *gib * times, shared_memory});
  };
  const auto setting = [&](const char* name, double times, bool shared_memory) {
    add(name, d.where_of(name), d.settings.real(name), times, shared_memory);
  };
  setting("kv-offloading-size", 1.0, d.version >= Version{0, 24, 0});
  setting("cpu-offload-gb", ranks, false);
  if (d.engine.v0_engine) setting("swap-space", ranks, false);
  const auto extra =
      json_member(d.settings.text("kv-transfer-config"), "kv_connector_extra_config");
  if (const auto bytes = json_member(extra.value_or(""), "cpu_bytes_to_use")) {
    add("cpu_bytes_to_use", d.where_of("kv-transfer-config"),
        std::strtod(bytes->c_str(), nullptr) / static_cast<double>(memory::kGiB), 1.0, false);
  }
  const EnvVar* cache = d.env("LMCACHE_MAX_LOCAL_CPU_SIZE");
  if (cache != nullptr && cache->known) {
    add("LMCACHE_MAX_LOCAL_CPU_SIZE", cache->value.location(),
        std::strtod(cache->value.str().c_str(), nullptr), ranks, false);
  }
  return pools;
}

void check_limit(const Deployment& d, const Pool& pool, uint64_t ranks, uint64_t limit,
                 Reporter& reporter) {
  const double base = memory::gib(host_memory_need(ranks).least);
  const double have = memory::gib(limit);
  const bool doubled = d.version >= Version{0, 26, 0};
  const bool fails = have < pool.gib + base;
  if (!fails && (!doubled || have >= kMeasuredTimes * pool.gib + base)) return;
  Diagnostic& finding = reporter.report(
      pool.where,
      pool.name + " asks for " + memory::decimal_text(pool.gib, 1) +
          " GiB of host memory that cannot be given back" +
          (fails ? ""
                 : ", and up to " + memory::decimal_text(kMeasuredTimes * pool.gib, 0) +
                       " GiB were measured in use") +
          "; the container's limit is " + memory::gib_text(limit),
      fails ? Severity::kError : Severity::kWarning);
  finding.notes.push_back({"the limit is set here", d.start.around->memory_limit_bytes->where});
}

void check_shared_memory(const Deployment& d, const Pool& pool, Reporter& reporter) {
  const Surroundings* around = whole_container(d);
  const Mount* mount = around == nullptr ? nullptr : mount_of(*around, "/dev/shm");
  if (mount == nullptr || !mount->size_bytes || mount->path == "/" || around->host_ipc) return;
  const uint64_t room = mount->size_bytes->value;
  if (memory::gib(room) >= pool.gib) return;
  const bool checked = d.version >= Version{0, 28, 0} && !d.version_assumed;
  reporter.report(mount->size_bytes->where,
                  pool.name + " puts " + memory::decimal_text(pool.gib, 1) +
                      " GiB into /dev/shm, which has " + memory::gib_text(room),
                  checked ? Severity::kError : Severity::kWarning);
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = d.start.around.get();
  const uint64_t ranks = ranks_in_container(d);
  if (around == nullptr || ranks == 0 || !uses_gpus(d) || d.lacks_gpus()) return;
  for (const Pool& pool : pools_of(d, static_cast<double>(ranks))) {
    if (around->memory_limit_bytes) {
      check_limit(d, pool, ranks, around->memory_limit_bytes->value, reporter);
    }
    if (pool.shared_memory) check_shared_memory(d, pool, reporter);
  }
}

}  // namespace

extern const Rule offload_host_memory_rule;
const Rule offload_host_memory_rule = {
    .id = "KVB504",
    .name = "offload-host-memory",
    .severity = Severity::kError,
    .summary = "memory for offloading does not fit the container",
    .doc = R"md(
## What it does
Compares the host memory that offloading asks for with the container's memory limit and its /dev/shm.

## Why it matters
The pool is pinned: it cannot be swapped or given back, so the container is killed (exit code 137).

## How it is computed
Asked for: `kv-offloading-size` (GiB, of all ranks together) or `cpu_bytes_to_use` of the OffloadingConnector,
`cpu-offload-gb` and V0's `swap-space` (of each rank), LMCache's local CPU cache
($LMCACHE_MAX_LOCAL_CPU_SIZE, of each rank). An error when the limit is below that and the least that an engine
takes besides (KVB503). From 0.26 twice the pool was measured in use (400 GiB took 769), so a limit below 1.95
times the pool is a warning there. The pool of `kv-offloading-size` lies in /dev/shm from 0.24, which the engine
checks from 0.28.0: a smaller volume there is an error.

## Fix
A smaller pool, or a larger limit.

## Since which engine version
`kv-offloading-size` since 0.11.1.

## References
vllm/v1/kv_offload/cpu/shared_offload_region.py; vLLM issues 53042, 56410, 9367.
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
        - --kv-offloading-size=200  # expect: KVB504
      resources: {limits: {memory: 192Gi, nvidia.com/gpu: 1}}
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
        - --kv-offloading-size=200
      resources: {limits: {memory: 440Gi, nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
