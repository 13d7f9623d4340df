#include <algorithm>

#include "lint/memory/format.h"
#include "lint/memory/lora.h"
#include "lint/rule.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"
#include "rules/what_if.h"

namespace kvbudget {
namespace {

// From here on the slots' share of the cache is worth a word; of slots that nothing fills, less.
constexpr double kLargeShare = 0.1;
constexpr double kUselessShare = 0.02;

uint64_t slot_bytes(const Deployment& d, uint32_t slots) {
  memory::EngineSettings settings = d.engine;
  settings.lora.slots = slots;
  return memory::lora_bytes(*d.shape, settings, d.estimate->tightest_stage);
}

// Words `name=path`, or JSON objects.
uint32_t adapter_count(std::string_view text) {
  const auto objects = static_cast<uint32_t>(std::count(text.begin(), text.end(), '{'));
  if (objects != 0) return objects;
  return static_cast<uint32_t>(std::count(text.begin(), text.end(), '='));
}

bool is_off(std::string_view value) {
  return value.empty() || value == "0" || value == "False" || value == "false";
}

// Adapters that the file lists; 0 where it lists none, or where more may come at run time.
uint32_t listed_adapters(const Deployment& d) {
  constexpr const char* kResolvers[] = {"VLLM_PLUGINS", "VLLM_LORA_RESOLVER_CACHE_DIR",
                                        "VLLM_LORA_RESOLVER_HF_REPO_LIST"};
  for (const char* name : kResolvers) {
    if (d.env(name) != nullptr) return 0;
  }
  const EnvVar* more = d.env("VLLM_ALLOW_RUNTIME_LORA_UPDATING");
  if (more != nullptr && !(more->known && is_off(more->value.view()))) return 0;
  const Setting* modules = d.settings.find("lora-modules");
  if (modules == nullptr || !modules->known) return 0;
  return adapter_count(modules->value);
}

// The cache with that many fewer bytes of slots: whether the engine would start.
bool would_start(const Deployment& d, uint32_t slots) {
  const auto change = [&](memory::EngineSettings& s) { s.lora.slots = slots; };
  return slots < d.engine.lora.slots && what_if(d, change).obstacle == memory::Obstacle::kNone;
}

void check(const Deployment& d, Reporter& reporter) {
  if (!d.estimate || d.engine.lora.slots == 0) return;
  const memory::Estimate& e = *d.estimate;
  const uint32_t slots = d.engine.lora.slots;
  const uint64_t bytes = slot_bytes(d, slots);
  const uint32_t listed = listed_adapters(d);
  const uint64_t useless =
      listed != 0 && listed < slots ? memory::less(bytes, slot_bytes(d, listed)) : 0;
  const bool rescued =
      is_short_of_memory(e.obstacle) && (would_start(d, listed) || would_start(d, 1));
  if (e.obstacle != memory::Obstacle::kNone && !rescued) return;
  const double cache = std::max(0.0, static_cast<double>(e.available.best));
  const bool large = static_cast<double>(bytes) > kLargeShare * cache;
  if (!rescued && !large && static_cast<double>(useless) <= kUselessShare * cache) return;
  Diagnostic& finding = reporter.report(
      d.where_of(d.settings.has("max-loras") ? "max-loras" : "max-lora-rank"),
      std::to_string(slots) + (slots == 1 ? " LoRA slot" : " LoRA slots") + " of rank " +
          std::to_string(d.engine.lora.rank) + " take " + memory::gib_text(bytes) + " of each GPU" +
          (rescued ? "; with fewer the engine would start"
                   : " beside a KV cache of " + memory::gib_text(e.available.best)));
  if (useless != 0) {
    finding.notes.push_back({"the file lists " + std::to_string(listed) +
                                 "; the other slots cost " + memory::gib_text(useless),
                             {}});
    propose_value(d, "max-loras", std::to_string(listed), finding);
  }
  finding.notes.push_back(
      {"a slot has room for max-lora-rank whatever the adapter's rank: set the "
       "largest that is used, and keep idle adapters in max-cpu-loras",
       {}});
}

}  // namespace

extern const Rule lora_slots_too_large_rule;
const Rule lora_slots_too_large_rule = {
    .id = "KVB111",
    .name = "lora-slots-too-large",
    .severity = Severity::kWarning,
    .summary = "room set aside for LoRA adapters is a large part of what the KV cache could have",
    .doc = R"md(
## What it does
Counts what `--enable-lora` sets aside for adapters, and compares it with the KV cache and with the adapters that the
file lists.

## Why it matters
Every slot is allocated at the start, for every linear layer and at the full `max-lora-rank`. Experts multiply it: one
slot of a mixture can take more than the cache.

## How it is computed
Two stacks of matrices per linear layer, `max-loras` times `max-lora-rank`, divided as the engine divides them. Reported
from a tenth of the KV cache on, from a fiftieth where slots have no adapter to fill them, and where fewer slots would
let the engine start. Slots are not called idle where adapters may be loaded at run time.

## Fix
`max-loras` for the adapters in use at once, `max-lora-rank` for the largest of them, `max-cpu-loras` for the rest.

## Since which engine version
0.9, the V1 engine; before, the budget left slots out.

## References
vllm/lora/layers, `create_lora_weights`; vLLM issues 9542, 14450, 20160, 22782, 29049.
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
        - --max-model-len=4096
        - --enable-lora
        - --max-loras=8  # expect: KVB111
        - --max-lora-rank=64
        - --lora-modules=a=/adapters/a
      resources: {limits: {nvidia.com/gpu: 1}}
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
        - --max-model-len=4096
        - --enable-lora
        - --max-loras=1
        - --max-lora-rank=16
        - --lora-modules=a=/adapters/a
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
