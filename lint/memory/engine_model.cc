#include "lint/memory/engine_model.h"

#include "lint/memory/bytes.h"

namespace kvbudget::memory {
namespace {

// First release of each row, as EngineRelease::number. Read from the bottom up: the last row that
// is not newer holds.
struct ProfileRow {
  uint32_t since;
  ProfileRules rules;
};

// Sampler: public start-up logs of 54 runs of 0.19.0 on H100 and of Qwen3-14B on 0.15 to 0.18
// (llm-d planner, accuracy/results, 2026). Up to 0.16 top-k/top-p sorts the logits through PyTorch
// (about 36 B an entry: float32 copies, sorted values, 64-bit indices, softmax, cumulative sum,
// masks); from 0.17 one kernel does it in place and about 12.5 B remain. Model Runner V2 (dense
// models from 0.25, all from 0.29) profiles without sampling (vllm PRs 44443, 48037, 53183). A cold
// compile cache can hold 1.2 GiB more (vllm issues 54383, 54122). V0: logs of 0.6.4 and 0.7.2; its
// peak was measured from the device, so anything that happens to be there counts. Graphs:
// vllm/v1/worker/gpu_worker.py subtracts the estimate by default from 0.20.0; the V2 runner of 0.25
// to 0.28 reserves nothing for dense models (vllm issue 49224).
constexpr SamplerPlace kIn = SamplerPlace::kInProfile;
constexpr SamplerPlace kAfter = SamplerPlace::kAfterBudget;
constexpr uint64_t kColdCompile = kGiB + kGiB / 5;
constexpr ProfileRow kDense[] = {
    {0, {kIn, 4.0, false, false, 0.3, 2.5, kGiB}},
    {800, {kIn, 36.1, true, false, 0.97, 1.03, kGiB / 8}},
    {1700, {kIn, 12.5, true, false, 0.97, 1.03, kGiB / 8}},
    {2000, {kIn, 12.5, true, true, 0.97, 1.03, kGiB / 8}},
    {2500, {kAfter, 12.5, true, false, 0.8, 1.2, kColdCompile}},
    {2900, {kAfter, 12.5, true, true, 0.8, 1.2, kColdCompile}},
};
constexpr ProfileRow kMoe[] = {
    {0, {kIn, 4.0, false, false, 0.3, 2.5, kGiB}},
    {800, {kIn, 36.1, true, false, 0.9, 1.1, kGiB / 2}},
    {1700, {kIn, 12.5, true, false, 0.9, 1.1, kGiB / 2}},
    {2000, {kIn, 12.5, true, true, 0.9, 1.1, kGiB / 2}},
    {2900, {kAfter, 12.5, true, true, 0.8, 1.2, kColdCompile}},
};

template <size_t N>
ProfileRules last_row(const ProfileRow (&rows)[N], EngineRelease release) {
  ProfileRules result = rows[0].rules;
  for (const ProfileRow& row : rows) {
    if (release.number >= row.since) result = row.rules;
  }
  return result;
}

}  // namespace

ProfileRules profile_rules(EngineRelease release, bool moe) {
  return moe ? last_row(kMoe, release) : last_row(kDense, release);
}

// GiB. Hopper, one GPU: 0.13 up to 0.17 and 0.25 from 0.18 (same logs; two Granite runs 0.46). Ada
// and Ampere cards show next to nothing (RTX 3090 on 0.17.1: under 0.03). Tensor parallelism over
// NVLink: 0.42 in 0.11, 1.13 on H200 in 0.10.2, 1.82 to 1.96 in 0.19 on H100 (all-reduce
// workspaces); over PCIe 0.1 (8 x L40S, 0.10.2).
OverheadRules overhead_rules(EngineRelease release, const GpuMemory& gpu) {
  if (!release.at_least(8)) return {0.05, 0.25, 1.9, 0.0, 0.5, 2.0};
  const bool newer = release.at_least(18);
  const bool nvlink =
      gpu.capability_major >= 9 && gpu.total_bytes >= 60 * kGiB && gpu.capability_major != 12;
  if (nvlink) {
    return newer ? OverheadRules{0.20, 0.25, 0.48, 0.4, 1.85, 2.1}
                 : OverheadRules{0.10, 0.13, 0.30, 0.3, 0.42, 1.9};
  }
  return newer ? OverheadRules{0.0, 0.12, 0.45, 0.05, 0.3, 1.9}
               : OverheadRules{0.0, 0.03, 0.30, 0.05, 0.2, 1.2};
}

}  // namespace kvbudget::memory
