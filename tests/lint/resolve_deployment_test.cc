#include "lint/resolve_deployment.h"

#include "lint/engine/flags.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

Deployment resolved(std::vector<std::string> flags, uint32_t gpus = 0) {
  std::vector<std::string> words = {"vllm", "serve", "Qwen/Qwen2.5-7B-Instruct", "--max-model-len",
                                    "8192"};
  words.insert(words.end(), flags.begin(), flags.end());
  Inputs inputs;
  inputs.engine = Version{0, 19, 0};
  inputs.gpu = *find_gpu("L4");
  inputs.gpu_count = gpus;
  return resolve_deployment(read_command_line(words).starts.front(), inputs);
}

}  // namespace

TEST_CASE("a plain start is judged") {
  const Deployment d = resolved({});
  REQUIRE(d.estimate.has_value());
  CHECK(d.estimate->verdict == memory::Verdict::kStarts);
}

TEST_CASE("what the engine refuses is never said to start") {
  struct Case {
    std::vector<std::string> flags;
    uint32_t gpus;
    const char* because;
  };
  const Case cases[] = {
      {{"--tensor-parallel-size", "4"}, 2, "4 ranks"},
      {{"--tensor-parallel-size", "7"}, 7, "28 attention heads"},  // 4 heads for keys and values
      {{"--frobnicate"}, 1, "frobnicate"},
      {{"--enforce-eager=true"}, 1, "enforce-eager"},
      {{"--dtype", "fp16"}, 1, "fp16"},
      {{"--max-num-batched-tokens", "512", "--max-num-seqs", "1024"}, 1, "at least max-num-seqs"},
  };
  for (const Case& c : cases) {
    INFO(c.because);
    const Deployment d = resolved(c.flags, c.gpus);
    REQUIRE(d.estimate.has_value());
    CHECK(d.estimate->verdict == memory::Verdict::kRefuses);
    CHECK(d.estimate->because.find(c.because) != std::string::npos);
  }
}

TEST_CASE("memory that is not counted, and shapes that are overridden, are not judged") {
  CHECK_FALSE(resolved({"--enable-lora"}).estimate.has_value());
  CHECK_FALSE(resolved({"--speculative-config", R"({"model":"org/draft"})"}).estimate.has_value());
  CHECK_FALSE(resolved({"--hf-overrides", R"({"num_hidden_layers":2})"}).estimate.has_value());
  CHECK(resolved({"--hf-overrides", R"({"rope_theta":10000})"}).estimate.has_value());
}

TEST_CASE("a release newer than the data is judged as the newest known one, and said to be") {
  Inputs inputs;
  inputs.engine = Version{9, 9, 0};
  inputs.gpu = *find_gpu("L4");
  const Deployment d = resolve_deployment(
      read_command_line({"vllm", "serve", "Qwen/Qwen2.5-7B-Instruct"}).starts.front(), inputs);
  CHECK(d.version_assumed);
  CHECK(d.version == newest_version());
}
