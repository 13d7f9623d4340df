// What makes the memory rules speak, and what keeps them silent, beyond their examples.

#include <string>

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"
#include "tests/support/pod_text.h"

using namespace kvbudget;

namespace {

constexpr const char* kL4 = "NVIDIA-L4";
constexpr const char* kT4 = "Tesla-T4";
constexpr const char* kAda = "NVIDIA-GeForce-RTX-4090";
constexpr const char* kHopper = "NVIDIA-H100-80GB-HBM3";
constexpr const char* kLarge = "NVIDIA-H200";

constexpr const char* kLlama = "meta-llama/Llama-3.1-8B-Instruct";
constexpr const char* kQwen = "Qwen/Qwen2.5-7B-Instruct";
constexpr const char* kHybrid = "Qwen/Qwen3.5-35B-A3B";

struct Case {
  const char* rule;
  bool speaks;
  test::PodCase pod;
};

bool speaks(const Case& c) {
  for (const auto& [line, rule] : test::found("pod.yaml", test::pod_text(c.pod))) {
    if (rule == c.rule) return true;
  }
  return false;
}

void check_cases(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const std::string text = test::pod_text(c.pod);
    INFO(c.rule << "\n" << text << test::to_text(test::found("pod.yaml", text)));
    CHECK(speaks(c) == c.speaks);
  }
}

}  // namespace

TEST_CASE("the sampler's warm-up is named where fewer sequences would start") {
  check_cases({
      {"KVB107",
       true,
       {kAda, "0.26.0", kQwen, {"--gpu-memory-utilization=0.95", "--max-num-seqs=1024"}}},
      {"KVB107",
       true,
       {kL4, "0.8.1", "Qwen/Qwen2.5-32B-Instruct-AWQ", {"--gpu-memory-utilization=0.95"}}},
      {"KVB107",
       false,
       {kAda, "0.26.0", kQwen, {"--gpu-memory-utilization=0.9", "--max-num-seqs=64"}}},
      {"KVB107", false, {kAda, "0.19.0", kQwen, {"--gpu-memory-utilization=0.98"}}},
      {"KVB106", true, {kAda, "0.19.0", kQwen, {"--gpu-memory-utilization=0.98"}}},
  });
}

TEST_CASE("lists of graph sizes have to agree with the maximum beside them") {
  const std::vector<const char*> differ = {"--cudagraph-capture-sizes", "1", "8", "64",
                                           "--max-cudagraph-capture-size=8"};
  const std::vector<const char*> agree = {"--cudagraph-capture-sizes", "1", "8", "64",
                                          "--max-cudagraph-capture-size=64"};
  const std::vector<const char*> config = {
      R"(--compilation-config={"cudagraph_capture_sizes": [1, 8], "max_cudagraph_capture_size": 16})"};
  const std::vector<const char*> wide = {"--max-num-seqs=8", "--cudagraph-capture-sizes", "1",
                                         "64"};
  const std::vector<const char*> narrow = {"--max-num-seqs=8", "--cudagraph-capture-sizes", "1",
                                           "16"};
  check_cases({
      {"KVB108", true, {kL4, "0.19.0", kQwen, differ}},
      {"KVB108", true, {kL4, "0.19.0", kQwen, config}},
      {"KVB108", false, {kL4, "0.19.0", kQwen, agree}},
      {"KVB108", true, {kL4, "0.19.0", kQwen, wide}},
      {"KVB108", false, {kL4, "0.19.0", kQwen, narrow}},
  });
}

TEST_CASE("a batch is too large where a usual one starts, or makes the cache much larger") {
  check_cases({
      {"KVB109", true, {kL4, "0.19.0", kQwen, {"--max-num-batched-tokens=32768"}}},
      {"KVB109", false, {kL4, "0.19.0", kQwen, {"--max-num-batched-tokens=2048"}}},
      {"KVB109", false, {kHopper, "0.19.0", kQwen, {"--max-num-batched-tokens=16384"}}},
      {"KVB109",
       false,
       {kL4, "0.19.0", kQwen, {"--max-model-len=32768", "--gpu-memory-utilization=0.7"}}},
  });
}

TEST_CASE("encoders are named where the file does not limit what they are to take") {
  constexpr const char* kSees = "Qwen/Qwen2.5-VL-7B-Instruct";
  check_cases({
      {"KVB110", true, {kL4, "0.19.0", kSees, {}}},
      {"KVB110",
       false,
       {kL4, "0.19.0", kSees, {R"(--mm-processor-kwargs={"max_pixels": 1003520})"}}},
      {"KVB110", false, {kL4, "0.19.0", kSees, {"--language-model-only"}}},
      {"KVB110", false, {kHopper, "0.19.0", kSees, {}}},
      {"KVB110", false, {kL4, "0.19.0", "google/gemma-3-4b-it", {}}},
  });
}

TEST_CASE("LoRA slots are too large beside the cache, or have no adapter") {
  const std::vector<const char*> many = {"--enable-lora", "--max-loras=16", "--max-lora-rank=64"};
  const std::vector<const char*> idle = {"--enable-lora", "--max-loras=8", "--lora-modules",
                                         "a=/a"};
  const std::vector<const char*> one = {"--enable-lora", "--lora-modules", "a=/a"};
  check_cases({
      {"KVB111", true, {kL4, "0.19.0", kQwen, many}},
      {"KVB111", true, {kL4, "0.19.0", kQwen, idle}},
      {"KVB111", false, {kL4, "0.19.0", kQwen, one}},
      {"KVB111", false, {kHopper, "0.19.0", kQwen, one}},
  });
}

TEST_CASE("16-bit checkpoints that are converted on the way fail to load up to 0.15") {
  constexpr const char* kDense = "Qwen/Qwen2.5-72B-Instruct";
  check_cases({
      {"KVB113", true, {kLarge, "0.14.0", kDense, {"--quantization=fp8"}}},
      {"KVB113", true, {kLarge, "0.15.0", kDense, {"--quantization=fp8"}}},
      {"KVB113", false, {kLarge, "0.16.0", kDense, {"--quantization=fp8"}}},
      {"KVB113", false, {kLarge, "0.14.0", kDense, {"--quantization=bitsandbytes"}}},
  });
}

TEST_CASE("prompt logprobs are a risk where more than usual may be asked for") {
  constexpr const char* kSmall = "Qwen/Qwen2.5-1.5B-Instruct";
  check_cases({
      {"KVB114",
       true,
       {kL4, "0.19.0", kSmall, {"--max-logprobs=100", "--max-num-batched-tokens=8192"}}},
      {"KVB114",
       false,
       {kL4, "0.19.0", kSmall, {"--max-logprobs=20", "--max-num-batched-tokens=8192"}}},
      {"KVB114", false, {kL4, "0.19.0", kSmall, {"--max-num-batched-tokens=8192"}}},
      {"KVB114", false, {kLarge, "0.19.0", kSmall, {"--max-logprobs=-1"}}},
  });
}

TEST_CASE("caches of fixed size contradict the card, the utilisation or a request") {
  check_cases({
      {"KVB116", true, {kL4, "0.19.0", kLlama, {"--kv-cache-memory-bytes=12G"}}},
      {"KVB116",
       true,
       {kL4, "0.19.0", kLlama, {"--kv-cache-memory-bytes=3G", "--gpu-memory-utilization=0.8"}}},
      {"KVB116", false, {kL4, "0.19.0", kLlama, {"--kv-cache-memory-bytes=3G"}}},
      {"KVB117", true, {kL4, "0.19.0", kLlama, {"--num-gpu-blocks-override=1000"}}},
      {"KVB117", true, {kL4, "0.28.0", kLlama, {"--num-gpu-blocks-override=100"}}},
      {"KVB117", true, {kL4, "0.28.0", kLlama, {"--num-gpu-blocks-override=100000"}}},
      {"KVB103", false, {kL4, "0.28.0", kLlama, {"--num-gpu-blocks-override=100"}}},
      {"KVB117",
       false,
       {kL4,
        "0.19.0",
        kLlama,
        {"--num-gpu-blocks-override=1000", "--scheduler-cls=kvbudget.vllm.make_scheduler"}}},
      {"KVB117", false, {kL4, "0.19.0", kLlama, {}}},
  });
}

TEST_CASE("recurrent state limits sequences from 0.20, and the step from 0.17 to 0.26") {
  const std::vector<const char*> text = {"--language-model-only"};
  const std::vector<const char*> pieces = {
      "--language-model-only", R"(--compilation-config={"cudagraph_mode": "PIECEWISE"})"};
  const std::vector<const char*> aligned = {"--language-model-only", "--enable-prefix-caching",
                                            "--max-num-seqs=8", "--max-num-batched-tokens=256"};
  check_cases({
      {"KVB118", true, {kHopper, "0.26.0", kHybrid, text}},
      {"KVB118", false, {kHopper, "0.19.0", kHybrid, text}},
      {"KVB118", false, {kHopper, "0.26.0", kHybrid, pieces}},
      {"KVB122", true, {kHopper, "0.26.0", kHybrid, aligned}},
      {"KVB122", false, {kHopper, "0.28.0", kHybrid, aligned}},
  });
}

TEST_CASE("prompts that are never admitted are a matter of 0.19.0 to 0.20.1") {
  constexpr const char* kWindows = "google/gemma-3-4b-it";
  const std::vector<const char*> whole = {"--max-model-len=131072"};
  const std::vector<const char*> off = {"--max-model-len=131072",
                                        "--no-scheduler-reserve-full-isl"};
  check_cases({
      {"KVB119", true, {kL4, "0.19.0", kWindows, whole}},
      {"KVB119", true, {kL4, "0.20.1", kWindows, whole}},
      {"KVB119", false, {kL4, "0.20.2", kWindows, whole}},
      {"KVB119", false, {kL4, "0.19.0", kWindows, off}},
      {"KVB119", false, {kL4, "0.19.0", kLlama, {"--max-model-len=auto"}}},
  });
}

TEST_CASE("float32 is named once, whether the file or the card asks for it") {
  constexpr const char* kGemma = "google/gemma-3-4b-it";
  constexpr const char* kTiny = "google/gemma-3-1b-it";
  check_cases({
      {"KVB120", true, {kT4, "0.19.0", kGemma, {}}},
      {"KVB101", false, {kT4, "0.19.0", kGemma, {}}},
      {"KVB120", true, {kT4, "0.19.0", kTiny, {}}},
      {"KVB120", true, {kL4, "0.19.0", "Qwen/Qwen2.5-1.5B-Instruct", {"--dtype=float32"}}},
      {"KVB120", false, {kL4, "0.19.0", kGemma, {}}},
      {"KVB120", false, {kT4, "0.19.0", "Qwen/Qwen2.5-1.5B-Instruct", {}}},
  });
}

TEST_CASE("nothing is estimated on a card for an image that runs on CPUs") {
  const auto ids = [](const std::string& text) {
    std::set<std::string> found;
    for (const auto& [line, id] : test::found("pod.yaml", text)) {
      if (id.starts_with("KVB1") || id == "KVB001") found.insert(id);
    }
    return found;
  };
  std::string text = test::pod_text({"NVIDIA-L4", "0.19.0", "Qwen/Qwen2.5-32B-Instruct", {}});
  CHECK(ids(text) == std::set<std::string>{"KVB101"});
  const std::string image = "vllm-openai:";
  text.replace(text.find(image), image.size(), "vllm-openai-cpu:");
  CHECK(ids(text) == std::set<std::string>{"KVB001"});
}

TEST_CASE("nothing is estimated where an argument is not literal") {
  const auto rules = [](const std::string& arguments) {
    std::string text;
    for (const auto& [line, rule] : test::found(
             "run.py", "from vllm import LLM\nllm = LLM(model='Qwen/Qwen2.5-7B-Instruct', " +
                           arguments + ")\n# gpu\nf(gpu='T4')\n")) {
      if (rule == "KVB001" || rule == "KVB101" || rule.starts_with("KVB4")) text += rule + " ";
    }
    return text;
  };
  CHECK(rules("max_model_len=4096, dtype='half'") == "KVB101 ");
  CHECK(rules("max_model_len=4096, dtype='half', **more") == "KVB001 ");
  CHECK(rules("max_model_len=4096, dtype='half', enforce_eager=EAGER") == "KVB001 ");
  CHECK(rules("max_model_len=LENGTH, dtype='half'") == "KVB001 ");
}
