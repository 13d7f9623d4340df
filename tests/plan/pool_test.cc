// The pool that a plan pins, judged anew with the plan's own flags as an engine would read them.
#include "lint/plan/pool.h"

#include <algorithm>
#include <string>
#include <vector>

#include "lint/inputs.h"
#include "lint/memory/layer_specs.h"
#include "lint/memory/plan.h"
#include "lint/plan/json.h"
#include "lint/plan/plan.h"
#include "lint/resolve_deployment.h"
#include "tests/support/catch.h"
#include "tests/support/shared.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* model;
  std::vector<std::string> flags;
  uint32_t gpus = 1;
  const char* gpu = "H100-80GB";
};

Deployment resolved(const Case& c, Version version, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"vllm", "serve", c.model};
  words.insert(words.end(), c.flags.begin(), c.flags.end());
  words.insert(words.end(), more.begin(), more.end());
  Inputs inputs;
  inputs.engine = version;
  inputs.gpu = *find_gpu(c.gpu);
  inputs.gpu_count = c.gpus;
  return resolve_deployment(read_command_line(words).starts.front(), inputs);
}

// Dense, sliding windows, MLA, MoE, recurrent states; alone, in slices and in stages of unequal
// size (61 layers over 2, 48 over 5).
const std::vector<Case> kCases = {
    {"Qwen/Qwen2.5-7B-Instruct", {"--max-model-len=8192"}},
    {"Qwen/Qwen2.5-7B-Instruct", {"--max-model-len=8192"}, 1, "L4"},
    {"meta-llama/Llama-3.1-8B-Instruct", {"--max-model-len=16384", "--kv-cache-dtype=fp8"}},
    {"meta-llama/Llama-3.1-70B-Instruct", {"--max-model-len=8192", "-tp=4"}, 4},
    {"meta-llama/Llama-3.1-70B-Instruct", {"--max-model-len=8192", "-tp=2", "-pp=2"}, 4},
    {"Qwen/Qwen2.5-7B-Instruct", {"--max-model-len=8192", "-pp=2"}, 2},
    {"Qwen/Qwen2.5-14B-Instruct", {"--max-model-len=8192", "-pp=5"}, 5},
    {"google/gemma-3-27b-it", {"--max-model-len=16384", "-tp=2"}, 2},
    {"openai/gpt-oss-20b", {"--max-model-len=32768"}},
    {"deepseek-ai/DeepSeek-V3", {"--max-model-len=8192", "-tp=8"}, 8, "H200"},
    {"deepseek-ai/DeepSeek-V3", {"--max-model-len=8192", "-tp=8", "-pp=2"}, 16, "H200"},
    {"Qwen/Qwen3-Next-80B-A3B-Instruct", {"--max-model-len=8192", "-tp=4"}, 4},
    {"Qwen/Qwen3-Next-80B-A3B-Instruct", {"--max-model-len=8192", "-tp=2", "-pp=2"}, 4},
};

const std::vector<Version> kVersions = {{0, 10, 1}, {0, 10, 2}, {0, 11, 0}, {0, 14, 1}, {0, 17, 1},
                                        {0, 19, 0}, {0, 20, 2}, {0, 24, 0}, {0, 28, 0}, {0, 33, 0}};

// What N blocks take of each stage is no more than the estimate surely has for it.
void check_fits(const Deployment& d, const plan::Pool& pool) {
  memory::EngineSettings settings = d.engine;
  settings.kv_cache_memory_bytes.reset();
  const memory::Planner planner(memory::plan_input(*d.shape, settings));
  REQUIRE(planner.num_ranks() == pool.free.stages.size());
  uint64_t largest = 0;
  for (size_t rank = 0; rank < planner.num_ranks(); ++rank) {
    largest = std::max(largest, planner.block_bytes(rank));
    CHECK(static_cast<int64_t>(pool.num_blocks * planner.block_bytes(rank)) <=
          pool.free.stages[rank].low);
  }
  CHECK(pool.bytes_per_block == largest);
  CHECK(pool.num_blocks == pool.free.low.num_blocks);
}

}  // namespace

TEST_CASE("with a plan's flags the engine has exactly the blocks of the plan") {
  size_t plans = 0;
  bool by_bytes = false;
  bool by_blocks = false;
  for (const Case& c : kCases) {
    for (const Version version : kVersions) {
      std::string flags;
      for (const std::string& flag : c.flags) flags += " " + flag;
      INFO(c.model << flags << " on " << c.gpu << ", vLLM " << version.str());
      const Deployment d = resolved(c, version);
      const plan::PlanResult result = plan::make_plan(d, {});
      if (!result.plan) {
        CHECK_FALSE(result.error.empty());
        CHECK((!d.estimate || d.engine.v0_engine || !d.estimate->low.holds_one_request ||
               d.estimate->verdict != memory::Verdict::kStarts));
        continue;
      }
      ++plans;
      const plan::Pool& pool = result.plan->pool;
      check_fits(d, pool);
      (pool.pin_flag == "kv-cache-memory-bytes" ? by_bytes : by_blocks) = true;
      const Deployment pinned = resolved(c, version, result.plan->flags);
      REQUIRE(pinned.estimate);
      CHECK(pinned.settings.unknown_flags.empty());
      CHECK(pinned.settings.refused_words.empty());
      CHECK(pinned.estimate->low.num_blocks == pool.num_blocks);
      CHECK(pinned.estimate->best.num_blocks == pool.num_blocks);
      CHECK(pinned.estimate->high.num_blocks == pool.num_blocks);
      CHECK(pinned.estimate->low.holds_one_request);
      CHECK(result.plan->usable_blocks + 1 == pool.num_blocks);
      // The plan of the deployment that follows it is the same plan.
      const plan::PlanResult again = plan::make_plan(pinned, {});
      REQUIRE(again.plan);
      CHECK(plan::plan_json(*again.plan) == plan::plan_json(*result.plan));
    }
  }
  CHECK(plans > kCases.size() * kVersions.size() / 2);
  CHECK(by_bytes);
  CHECK(by_blocks);
}

TEST_CASE("the block size is the smallest of all groups, as the scheduler finds it", "[corpus]") {
  const auto config = test::shared_path("corpus/models/deepseek-ai__DeepSeek-V4-Flash-Base.json");
  if (!test::shared_exists(config)) return;
  Inputs inputs;
  inputs.engine = Version{0, 28, 0};
  inputs.gpu = *find_gpu("H200");
  inputs.gpu_count = 8;
  inputs.models.configs.push_back({"", config.string()});
  const std::vector<std::string> words = {"vllm", "serve", "v4", "-tp=8", "--max-model-len=8192"};
  const Deployment d = resolve_deployment(read_command_line(words).starts.front(), inputs);
  const plan::PlanResult result = plan::make_plan(d, {});
  INFO(result.error);
  REQUIRE(result.plan);
  CHECK(result.plan->pool.pinned.groups.front().block_tokens == 256);
  CHECK(result.plan->block_tokens == 4);  // of the compressors' states
}

TEST_CASE("a watermark is not usable") {
  const Case c = {"Qwen/Qwen2.5-7B-Instruct", {"--max-model-len=8192", "--watermark=0.1"}};
  const plan::PlanResult result = plan::make_plan(resolved(c, {0, 28, 0}), {});
  REQUIRE(result.plan);
  const uint64_t blocks = result.plan->pool.num_blocks;
  CHECK(result.plan->usable_blocks == blocks - 1 - blocks / 10);
}

TEST_CASE("what does not surely hold a request has no plan, and the reason says why") {
  struct Refused {
    Case start;
    const char* reason;
  };
  const Refused cases[] = {
      {{"Qwen/Qwen2.5-32B-Instruct", {}, 1, "L4"}, "weights"},
      {{"Qwen/Qwen2.5-7B-Instruct",
        {"--max-model-len=32768", "--gpu-memory-utilization=0.72"},
        1,
        "L4"},
       ""},
      {{"Qwen/Qwen2.5-7B-Instruct", {"--max-model-len=8192", "--num-gpu-blocks-override=68000"}},
       "num-gpu-blocks-override"},
      {{"Qwen/Qwen2.5-7B-Instruct", {"--max-model-len=8192", "--frobnicate"}}, "frobnicate"},
      {{"no/such-model", {}}, "no config.json"},
      // 512 blocks hold the request, one is the null block.
      {{"Qwen/Qwen2.5-7B-Instruct", {"--max-model-len=8192", "--num-gpu-blocks-override=512"}},
       "511 of 512 are usable"},
  };
  for (const Refused& c : cases) {
    INFO(c.start.model << " " << c.reason);
    const plan::PlanResult result = plan::make_plan(resolved(c.start, {0, 19, 0}), {});
    CHECK_FALSE(result.plan);
    INFO(result.error);
    CHECK(result.error.find(c.reason) != std::string::npos);
    CHECK_FALSE(result.error.empty());
  }
}

TEST_CASE("a pool that the file sizes itself is kept where it surely fits") {
  const Case c = {"Qwen/Qwen2.5-7B-Instruct",
                  {"--max-model-len=8192", "--kv-cache-memory-bytes=2000000000"}};
  const plan::PlanResult result = plan::make_plan(resolved(c, {0, 19, 0}), {});
  REQUIRE(result.plan);
  CHECK(result.plan->pool.num_blocks == 2000000000 / result.plan->pool.bytes_per_block);
}

TEST_CASE("a file's own additional-config is kept in the plan's") {
  const Case c = {"Qwen/Qwen2.5-7B-Instruct",
                  {"--max-model-len=8192", R"(--additional-config={"x":{"y":1}})"}};
  const plan::PlanResult result = plan::make_plan(resolved(c, {0, 19, 0}), {});
  REQUIRE(result.plan);
  CHECK(result.plan->flags.back() ==
        R"(--additional-config={"x":{"y":1},"kvbudget":{"plan":"/etc/kvbudget/plan.json",)"
        R"("mode":"strict"}})");
}
