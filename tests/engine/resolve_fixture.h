// Settings of a command line resolved on a card, for tests.
#pragma once

#include "lint/engine/resolve.h"
#include "tests/engine/engine_fixture.h"

namespace kvbudget::testing {

inline constexpr uint64_t kMiB = 1024 * 1024;

inline Gpu card(const char* device_name, uint64_t mib, ComputeCapability capability) {
  Gpu gpu;
  gpu.device_name = device_name;
  gpu.memory_bytes = mib * kMiB;
  gpu.capability = capability;
  gpu.vendor = "nvidia";
  return gpu;
}

inline Gpu h100() { return card("NVIDIA H100 80GB HBM3", 81089, {9, 0}); }
inline Gpu a100() { return card("NVIDIA A100-SXM4-80GB", 81153, {8, 0}); }
inline Gpu l4() { return card("NVIDIA L4", 22563, {8, 9}); }
inline Gpu t4() { return card("Tesla T4", 14913, {7, 5}); }
inline Gpu b200() { return card("NVIDIA B200", 182642, {10, 0}); }

inline memory::ModelShape model_with(std::initializer_list<memory::CacheKind> kinds) {
  memory::ModelShape model;
  model.architecture = "LlamaForCausalLM";
  for (const memory::CacheKind kind : kinds) {
    memory::LayerCache cache;
    cache.kind = kind;
    model.caches.push_back(cache);
  }
  return model;
}

inline memory::ModelShape decoder() { return model_with({memory::CacheKind::kFull}); }
inline memory::ModelShape hybrid() {
  return model_with({memory::CacheKind::kMamba, memory::CacheKind::kFull});
}

inline ResolveResult resolved(const char* version, const char* words, const Gpu& gpu,
                              const memory::ModelShape& model, uint64_t longest = 8192,
                              EngineUse use = EngineUse::kServer) {
  const Version parsed = parse_version(version).value();
  EngineStart start = start_of(words);
  start.use = use;
  const Settings settings = read_settings(start, parsed, nullptr);
  return resolve({settings, parsed, &gpu, &model, longest});
}

inline memory::EngineSettings engine_of(const char* version, const char* words, const Gpu& gpu,
                                        const memory::ModelShape& model = decoder(),
                                        uint64_t longest = 8192) {
  return resolved(version, words, gpu, model, longest).engine;
}

}  // namespace kvbudget::testing
