#include "lint/engine/flags.h"

#include "lint/engine/architectures.h"
#include "lint/engine/envs.h"
#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("every row of the flag table says something that can be used") {
  REQUIRE(all_flags().size() > 390);
  std::string before;
  for (const Flag& flag : all_flags()) {
    INFO(flag.name);
    CHECK(before < flag.name);
    before = flag.name;
    REQUIRE(flag.since);
    CHECK(*flag.since <= newest_version());
    if (flag.removed) CHECK(*flag.since < *flag.removed);
    CHECK(find_flag(flag.name) == &flag);
    for (const FlagAlias& alias : flag.aliases) CHECK(find_flag(alias.text));
    // A choice list that ends up with a stray sign or a doubled value was edited wrongly.
    for (const std::string_view choice : flag_choices(flag, newest_version())) {
      CHECK(choice.find_first_of("+@") == std::string_view::npos);
    }
  }
}

TEST_CASE("flags come and go in the release that the table names") {
  struct Case {
    const char* flag;
    Version last_without;
    Version first_with;
  };
  for (const Case& c : {Case{"kv-cache-memory-bytes", {0, 10, 1}, {0, 10, 2}},
                        Case{"cudagraph-capture-sizes", {0, 11, 0}, {0, 11, 1}},
                        Case{"performance-mode", {0, 16, 0}, {0, 17, 0}}}) {
    INFO(c.flag);
    const Flag* const flag = find_flag(c.flag);
    REQUIRE(flag);
    CHECK_FALSE(flag_exists(*flag, c.last_without));
    CHECK(flag_exists(*flag, c.first_with));
  }
  CHECK(flag_exists(*find_flag("swap-space"), {0, 17, 1}));
  CHECK_FALSE(flag_exists(*find_flag("swap_space"), {0, 18, 0}));
  CHECK(find_flag("no-such-flag") == nullptr);
  CHECK(find_flag("-tp") == find_flag("tensor-parallel-size"));
}

TEST_CASE("choices and defaults follow the release") {
  const Flag& cache = *find_flag("kv-cache-dtype");
  CHECK(flag_choices(cache, {0, 3, 0}) == std::vector<std::string_view>{"auto", "fp8_e5m2"});
  CHECK(flag_choices(cache, {0, 9, 0}).size() == 4);
  CHECK(flag_choices(cache, {0, 33, 0}).empty());
  CHECK(flag_choices(*find_flag("block-size"), {0, 17, 0}) ==
        std::vector<std::string_view>{"8", "16", "32", "128", "64", "1", "256"});
  CHECK(flag_default(*find_flag("gpu-memory-utilization"), {0, 19, 1}) == "0.9");
  CHECK(flag_default(*find_flag("gpu-memory-utilization"), {0, 20, 0}) == "0.92");
  CHECK(flag_default(*find_flag("enforce-eager"), {0, 20, 0}).empty());
}

TEST_CASE("a value that the parser would refuse is named") {
  const auto problem = [](const char* flag, Version version, const char* value) {
    return value_problem(*find_flag(flag), version, value);
  };
  CHECK(problem("max-num-seqs", {0, 19, 0}, "1k") == "not an integer");
  CHECK(problem("max-num-seqs", {0, 19, 0}, "64").empty());
  CHECK(problem("max-model-len", {0, 19, 0}, "8.5K") == "not a number of tokens");
  CHECK(problem("max-model-len", {0, 19, 0}, "auto").empty());
  CHECK(problem("gpu-memory-utilization", {0, 19, 0}, "90%") == "not a number");
  CHECK(problem("gpu-memory-utilization", {0, 19, 0}, "90").empty());
  CHECK(problem("dtype", {0, 19, 0}, "fp16") == "not one of the values of this release");
  CHECK(problem("dtype", {0, 19, 0}, "half").empty());
  CHECK(problem("kv-cache-dtype", {0, 19, 0}, "nvfp4") == "not one of the values of this release");
  CHECK(problem("kv-cache-dtype", {0, 20, 0}, "nvfp4").empty());
  CHECK(problem("speculative-config", {0, 19, 0}, "{'a':1}") == "not JSON");
  CHECK(problem("speculative-config", {0, 19, 0}, "{\"a\":1}").empty());
  CHECK(problem("compilation-config", {0, 8, 5}, "3").empty());
  CHECK(problem("quantization", {0, 19, 0}, "None").empty());
}

TEST_CASE("a typo gets the nearest name of the release") {
  CHECK(nearest_flag("max-model-length", {0, 19, 0}) == "max-model-len");
  CHECK(nearest_flag("gpu_memory_utilisation", {0, 19, 0}) == "gpu-memory-utilization");
  CHECK(nearest_flag("tensor-paralel-size", {0, 19, 0}) == "tensor-parallel-size");
  CHECK(nearest_flag("swap-spac", {0, 19, 0}) != "swap-space");
  CHECK(nearest_flag("swap-spac", {0, 17, 0}) == "swap-space");
  CHECK(nearest_flag("max-modle-len", {0, 19, 0}) == "max-model-len");
  CHECK(nearest_flag("gpu-mem-utilization", {0, 19, 0}) == "gpu-memory-utilization");
  CHECK(nearest_flag("zzzzzzzzzzzzzzzz", {0, 19, 0}).empty());
}

TEST_CASE("a name of another server gets vLLM's own name for the setting") {
  CHECK(nearest_flag("max-seq-len", {0, 19, 0}) == "max-model-len");
  CHECK(nearest_flag("mem_fraction_static", {0, 19, 0}) == "gpu-memory-utilization");
  CHECK(nearest_flag("tp-size", {0, 19, 0}) == "tensor-parallel-size");
}

TEST_CASE("a variable that went or came in a patch release is known by the patch") {
  CHECK(env_exists("VLLM_USE_V1", {0, 11, 0}));
  CHECK_FALSE(env_exists("VLLM_USE_V1", {0, 11, 1}));
  CHECK(env_exists("VLLM_SKIP_DEEP_GEMM_WARMUP", {0, 11, 0}));
  CHECK_FALSE(env_exists("VLLM_DEEP_GEMM_WARMUP", {0, 11, 0}));
  CHECK(env_exists("VLLM_DEEP_GEMM_WARMUP", {0, 11, 1}));
  CHECK_FALSE(env_exists("VLLM_USE_FUSED_MOE_GROUPED_TOPK", {0, 10, 1}));
  CHECK(env_exists("VLLM_USE_FUSED_MOE_GROUPED_TOPK", {0, 10, 2}));
}

TEST_CASE("variables and architectures have a life of their own") {
  CHECK(env_exists("VLLM_USE_V1", {0, 10, 2}));
  CHECK_FALSE(env_exists("VLLM_USE_V1", {0, 12, 0}));
  CHECK_FALSE(env_exists("VLLM_NO_SUCH", {0, 12, 0}));
  CHECK(env_default(*find_env("VLLM_DP_SIZE"), {0, 19, 0}) == "1");
  const Architecture* const llama = find_architecture("LlamaForCausalLM");
  REQUIRE(llama);
  CHECK(architecture_exists(*llama, {0, 33, 0}));
  CHECK(llama->has("pp"));
  CHECK_FALSE(llama->has("hybrid"));
  CHECK_FALSE(architecture_exists(*find_architecture("AquilaForCausalLM"), {0, 25, 0}));
  CHECK(find_architecture("FooForCausalLM") == nullptr);
}
