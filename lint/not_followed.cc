#include "lint/not_followed.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "lint/engine/architectures.h"

namespace kvbudget {
namespace {

// Overrides of the shape itself would make every number that follows wrong; those of rope do not.
void check_overrides(Deployment& d) {
  const std::string overrides = d.settings.text("hf-overrides");
  constexpr const char* kShapeKeys[] = {"layer",  "head",          "hidden",
                                        "window", "architectures", "intermediate",
                                        "vocab",  "expert",        "model_type"};
  const bool changes_shape =
      std::any_of(std::begin(kShapeKeys), std::end(kShapeKeys),
                  [&](const char* key) { return overrides.find(key) != std::string::npos; });
  if (changes_shape) {
    d.add_missing("model config", "hf-overrides change the model's shape",
                  "pass --model-config with the changes made");
  }
}

// Memory that is real and not counted here; an estimate without it would promise too much.
void check_uncounted(Deployment& d) {
  if (d.settings.text("ec-transfer-config").find("ec_producer") != std::string::npos) {
    d.add_missing("kv cache", "an encoder instance keeps no KV cache", "nothing to do");
  }
  // ModelConfig.use_mla: with the variable, and before there was one, every head has a cache of its
  // own, which is many times as large; no rule may speak of the latent one.
  const bool latent = d.shape && d.shape->has_cache(memory::CacheKind::kMla);
  constexpr Version kFirstWithLatents{0, 7, 1};
  if (latent && (d.switched("VLLM_MLA_DISABLE").value_or(false) || d.version < kFirstWithLatents)) {
    d.add_missing("kv cache", "latent attention is off, and the cache of its heads is not counted",
                  "judge this one by hand");
    d.shape.reset();
  }
}

// Settings that are read as text, where an unknown one would pass for one that is not given.
void check_known(Deployment& d) {
  constexpr const char* kNames[] = {"compilation-config",
                                    "cudagraph-capture-sizes",
                                    "cuda-graph-sizes",
                                    "data-parallel-size-local",
                                    "disable-sliding-window",
                                    "ec-transfer-config",
                                    "headless",
                                    "hf-overrides",
                                    "limit-mm-per-prompt",
                                    "lora-dtype",
                                    "max-cudagraph-capture-size",
                                    "optimization-level",
                                    "quantization",
                                    "rope-scaling"};
  for (const char* name : kNames) {
    const Setting* setting = d.settings.find(name);
    if (setting == nullptr || setting->known) continue;
    d.add_missing(name, "whether or how --" + std::string(name) + " is given is decided elsewhere",
                  "lint the rendered file");
  }
}

// What is not followed of LoRA slots.
void check_lora(Deployment& d) {
  if (d.engine.lora.slots == 0 || !d.shape) return;
  const Architecture* known = find_architecture(d.shape->architecture);
  constexpr const char* kOtherSlots[] = {"lora-target-modules", "enable-tower-connector-lora",
                                         "enable-mixed-moe-lora-format"};
  const char* const* other = std::find_if(
      std::begin(kOtherSlots), std::end(kOtherSlots),
      [&](const char* name) { return d.settings.has(name) && d.settings.text(name) != "false"; });
  if (known != nullptr && !known->has("lora")) {
    d.add_missing("lora", "the engine has no LoRA for " + d.shape->architecture, "leave it out");
  } else if (other != std::end(kOtherSlots)) {
    d.add_missing("lora", "which layers --" + std::string(*other) + " gives slots is not followed",
                  "judge this one by hand");
  } else if (d.engine.v0_engine) {
    d.add_missing("lora", "the engine before V1 leaves LoRA slots out of its budget",
                  "judge this one by hand");
  }
}

}  // namespace

void name_unfollowed_inputs(Deployment& d) {
  check_overrides(d);
  check_uncounted(d);
  check_known(d);
}

void name_uncounted_memory(Deployment& d) {
  check_lora(d);
  if (!d.profiles_every_sequence()) return;
  d.add_missing("activation",
                "the V0 engine profiles an encoder's item for every sequence, which is not counted",
                "judge this one by hand");
}

}  // namespace kvbudget
