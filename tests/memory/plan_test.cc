// Properties that hold for every plan, whatever the version.
#include "lint/memory/plan.h"

#include "lint/memory/bytes.h"
#include "tests/support/catch.h"

namespace kvbudget::memory {
namespace {

/// Five full layers to one sliding: the first group grows with the context, which is the only one
/// that 0.14 to 0.18 check.
PlanInput hybrid(uint32_t release, uint32_t first_kind = 0) {
  PlanInput input;
  input.release.number = release;
  CacheSpec full;
  full.kv_heads = 8;
  full.head_dim = 128;
  full.value_head_dim = 128;
  CacheSpec sliding = full;
  sliding.kind = SpecKind::kSliding;
  sliding.window_tokens = 1024;
  input.specs = {full, sliding};
  for (uint32_t layer = 0; layer < 48; ++layer) {
    input.layers.push_back(layer % 6 == 5 ? 1 - first_kind : first_kind);
  }
  input.max_model_len = 131072;
  input.max_num_batched_tokens = 8192;
  input.max_in_flight_tokens = 16384;
  return input;
}

constexpr uint32_t kReleases[] = {1002, 1102, 1200, 1401, 1500, 1701, 1800, 1901, 2002, 2100, 2201,
                                  2300, 2400, 2501, 2600, 2701, 2800, 2900, 3000, 3100, 3200, 3300};

TEST_CASE("the longest context fits and one token more does not") {
  for (const uint32_t release : kReleases) {
    const Planner planner(hybrid(release));
    for (const uint64_t mib : {100u, 1500u, 4096u, 20480u}) {
      const uint64_t available = mib * kMiB;
      const uint64_t longest =
          planner.longest_context(0, static_cast<int64_t>(available), uint64_t{1} << 40);
      INFO(release << ", " << mib << " MiB, " << longest << " tokens");
      if (longest > 0) CHECK(planner.needed_bytes(0, longest) <= available);
      CHECK(planner.needed_bytes(0, longest + 1) > available);
    }
  }
}

TEST_CASE("the engine starts exactly when the longest context reaches max-model-len") {
  for (const uint32_t release : kReleases) {
    const Planner planner(hybrid(release));
    const uint64_t need = planner.needed_bytes(0, 131072);
    INFO(release << " needs " << need);
    CHECK(planner.plan({static_cast<int64_t>(need)}).ok());
    const Plan refused = planner.plan({static_cast<int64_t>(need) - 1});
    CHECK(refused.refusal == Refusal::kTooSmall);
    CHECK(refused.estimated_max_len < 131072);
    CHECK(refused.estimated_max_len ==
          planner.longest_context(0, static_cast<int64_t>(need) - 1, 131072));
  }
}

TEST_CASE("auto-fit takes the longest context where the version has it") {
  for (const uint32_t release : kReleases) {
    PlanInput input = hybrid(release);
    input.auto_fit = true;
    const Planner planner(input);
    const auto available = static_cast<int64_t>(planner.needed_bytes(0, 40000));
    const Plan plan = planner.plan({available});
    INFO(release);
    if (!EngineRelease{release}.at_least(14)) {
      CHECK(plan.refusal == Refusal::kTooSmall);
      continue;
    }
    REQUIRE(plan.ok());
    CHECK(plan.max_model_len == planner.longest_context(0, available, 131072));
    CHECK(plan.max_model_len >= 40000);
  }
}

TEST_CASE("versions that check the first group alone start with lengths that they cannot serve") {
  constexpr uint32_t kSlidingFirst = 1;
  for (const uint32_t release : kReleases) {
    const Planner planner(hybrid(release, kSlidingFirst));
    const Plan plan = planner.plan({int64_t{400} << 20});
    const EngineRelease engine{release};
    const bool first_group_only = engine.at_least(14) && !engine.at_least(19);
    INFO(release);
    CHECK(plan.ok() == first_group_only);
    if (plan.ok()) CHECK(planner.longest_request(0, plan.num_blocks, 131072) < 131072);
  }
}

TEST_CASE("the longest request leaves the null block out") {
  const Planner planner(hybrid(3300));
  const uint64_t available = planner.needed_bytes(0, 50000);
  const uint64_t blocks = available / planner.block_bytes(0);
  CHECK(planner.longest_request(0, blocks, 131072) ==
        planner.longest_context(0, static_cast<int64_t>(available), 131072));
}

TEST_CASE("more memory never gives fewer blocks") {
  for (const uint32_t release : kReleases) {
    const Planner planner(hybrid(release));
    uint64_t blocks = 0;
    for (int64_t gib = 8; gib < 80; gib += 3) {
      const Plan plan = planner.plan({gib << 30});
      INFO(release << ", " << gib << " GiB");
      if (!plan.ok()) continue;
      CHECK(plan.num_blocks > blocks);
      CHECK(plan.ranks[0].tensor_bytes <= static_cast<uint64_t>(gib) << 30);
      blocks = plan.num_blocks;
    }
    CHECK(blocks > 0);
  }
}

TEST_CASE("one more token costs the layers that grow with the context") {
  const Planner planner(hybrid(3300));
  CHECK(planner.bytes_per_token(0) == 40 * 2 * 8 * 128 * 2);
}

TEST_CASE("all ranks take the block count of the smallest one") {
  PlanInput input = hybrid(3300);
  input.workers.resize(2);
  for (uint32_t layer = 0; layer < 48; ++layer) input.workers[layer / 24].push_back(layer);
  const Planner planner(input);
  const Plan plan = planner.plan({int64_t{40} << 30, int64_t{20} << 30});
  REQUIRE(plan.ok());
  CHECK(plan.num_blocks == (uint64_t{20} << 30) / planner.block_bytes(1));
  CHECK(plan.ranks[0].tensor_bytes == plan.ranks[1].tensor_bytes);
}

TEST_CASE("shapes beyond any model saturate instead of wrapping") {
  PlanInput input = hybrid(3300);
  input.specs[0].kv_heads = UINT32_MAX;
  input.specs[0].head_dim = UINT32_MAX;
  const Plan plan = Planner(input).plan({INT64_MAX});
  CHECK(!plan.ok());
}

TEST_CASE("a model without a cache plans the null block alone") {
  PlanInput input;
  input.release.number = 3300;
  input.max_model_len = 512;
  const Plan plan = Planner(input).plan({int64_t{1} << 30});
  CHECK(plan.ok());
  CHECK(plan.num_blocks == 1);
}

}  // namespace
}  // namespace kvbudget::memory
