// The rules on parallelism, by model and sizes.

#include "tests/support/catch.h"
#include "tests/support/pod_text.h"

using namespace kvbudget;
using test::PodCase;

namespace {

void check_all(const test::PodCases& cases) { test::check_fired("KVB3", cases); }

constexpr const char* kH100 = "NVIDIA-H100-80GB-HBM3";
constexpr const char* kMoe = "Qwen/Qwen3-30B-A3B-FP8";
constexpr const char* kDense = "Qwen/Qwen2.5-7B-Instruct";
constexpr const char* kLlama = "meta-llama/Llama-3.1-70B-Instruct";

}  // namespace

TEST_CASE("tensor parallelism must not cut the groups of a checkpoint") {
  check_all({
      {{kH100, "0.19.0", kMoe, {"--tensor-parallel-size=4"}, 4}, {"KVB302"}},
      {{kH100, "0.19.0", kMoe, {"--tensor-parallel-size=2"}, 2}, {}},
      {{kH100, "0.19.0", kMoe, {"--tensor-parallel-size=4", "--enable-expert-parallel"}, 4}, {}},
      {{kH100, "0.29.0", kMoe, {"--tensor-parallel-size=4"}, 4}, {}},
      // 18944 / 4 is a multiple of the 128 weights that share a scale, 11008 / 4 is not.
      {{kH100, "0.19.0", "Qwen/Qwen2.5-7B-Instruct-AWQ", {"--tensor-parallel-size=4"}, 4}, {}},
      {{kH100, "0.19.0", "TheBloke/Llama-2-7B-AWQ", {"--tensor-parallel-size=4"}, 4}, {"KVB302"}},
  });
}

TEST_CASE("more ranks than key-value heads store them several times") {
  check_all({
      {{kH100, "0.19.0", "Qwen/Qwen2.5-3B-Instruct", {"--tensor-parallel-size=4"}, 4}, {"KVB303"}},
      {{kH100, "0.19.0", "Qwen/Qwen2.5-3B-Instruct", {"--tensor-parallel-size=2"}, 2}, {}},
      {{kH100, "0.19.0", "deepseek-ai/DeepSeek-V2-Lite", {"--tensor-parallel-size=4"}, 4},
       {"KVB304"}},
  });
}

TEST_CASE("context parallelism is checked as the engine does") {
  constexpr const char* kDcp2 = "--decode-context-parallel-size=2";
  check_all({
      {{kH100, "0.19.0", kLlama, {"--tensor-parallel-size=8", kDcp2}, 8}, {"KVB309"}},
      {{kH100, "0.19.0", "Qwen/Qwen2.5-3B-Instruct", {"--tensor-parallel-size=4", kDcp2}, 4}, {}},
      {{kH100,
        "0.19.0",
        "Qwen/Qwen2.5-3B-Instruct",
        {"--tensor-parallel-size=4", "--decode-context-parallel-size=4"},
        4},
       {"KVB309"}},
      {{kH100, "0.19.0", kLlama, {"--tensor-parallel-size=$(TP)", kDcp2}, 8}, {}},
      {{kH100, "0.19.0", kLlama, {"--tensor-parallel-size=8", "--dcp-comm-backend=a2a"}, 8},
       {"KVB309"}},
  });
}

TEST_CASE("data parallelism of dense models copies them") {
  check_all({
      {{kH100, "0.19.0", kDense, {"--data-parallel-size=2"}, 2}, {"KVB308"}},
      {{kH100, "0.19.0", kMoe, {"--data-parallel-size=2", "--enable-expert-parallel"}, 2}, {}},
      {{kH100, "0.19.0", kDense, {"--enable-expert-parallel"}, 1}, {"KVB308"}},
      {{kH100,
        "0.19.0",
        kMoe,
        {"--data-parallel-size=2", "--data-parallel-size-local=4", "--enable-expert-parallel"},
        4},
       {"KVB308"}},
  });
}

TEST_CASE("cards have to run the quantisation and the dtype") {
  constexpr const char* kV100 = "Tesla-V100-SXM2-32GB";
  constexpr const char* kT4 = "Tesla-T4";
  constexpr const char* kAwq = "Qwen/Qwen2.5-7B-Instruct-AWQ";
  constexpr const char* kW4 = "RedHatAI/Qwen2.5-7B-Instruct-quantized.w4a16";
  check_all({
      {{kV100, "0.19.0", kAwq, {}}, {"KVB310"}},
      {{kT4, "0.19.0", kAwq, {}}, {}},
      {{kT4, "0.11.0", kW4, {}}, {"KVB310"}},
      {{kT4, "0.12.0", kW4, {}}, {}},
      {{kT4, "0.13.0", "RedHatAI/Qwen2.5-7B-Instruct-FP8-dynamic", {}}, {"KVB310"}},
      {{"NVIDIA-A100-SXM4-80GB", "0.19.0", "Qwen/Qwen3-8B-FP8", {}}, {}},
      {{"NVIDIA-A100-SXM4-80GB", "0.19.0", kAwq, {"--quantization=awq", "--dtype=bfloat16"}},
       {"KVB310"}},
      {{"NVIDIA-A100-SXM4-80GB", "0.24.0", kAwq, {"--quantization=awq", "--dtype=bfloat16"}}, {}},
      {{kT4, "0.19.0", kAwq, {"--dtype=bfloat16"}}, {"KVB311"}},
      {{kV100, "0.9.0", kDense, {}}, {"KVB311"}},
      {{kV100, "0.9.1", kDense, {}}, {}},
      {{kH100, "0.19.0", "google/gemma-3-4b-it", {"--dtype=half"}}, {"KVB311"}},
  });
}

TEST_CASE("balanced experts divide over the ranks") {
  const std::vector<const char*> even = {"--tensor-parallel-size=2", "--enable-expert-parallel",
                                         "--enable-eplb"};
  std::vector<const char*> odd = even;
  odd.push_back("--eplb-config.num_redundant_experts=1");
  check_all({
      {{kH100, "0.19.0", kMoe, even, 2}, {}},
      {{kH100, "0.19.0", kMoe, odd, 2}, {"KVB313"}},
  });
}

TEST_CASE("GPUs beyond the ranks are idle") {
  check_all({
      {{kH100, "0.19.0", kDense, {"--tensor-parallel-size=2"}, 4}, {"KVB306"}},
      {{kH100, "0.19.0", kDense, {"--tensor-parallel-size=2"}, 2}, {}},
      {{kH100, "0.19.0", kDense, {"--tensor-parallel-size=$(TP)"}, 4}, {}},
  });
}

TEST_CASE("a model cannot be divided over slices of a card") {
  constexpr const char* kSlice = "NVIDIA-A100-SXM4-80GB-MIG-3g.40gb";
  constexpr const char* kQwen = "Qwen/Qwen2.5-7B-Instruct";
  test::check_fired("KVB305",
                    {{{kSlice, "0.19.0", kQwen, {"--tensor-parallel-size=2"}, 2}, {"KVB305"}},
                     {{kSlice, "0.19.0", kQwen, {}, 1}, {}}});
}

TEST_CASE("more ranks than any cluster has are reported as they are written") {
  for (const char* size : {"4096", "4097", "10000", "3000000000"}) {
    const std::string flag = std::string("--tensor-parallel-size=") + size;
    const std::string text = test::pod_text({kH100, "0.19.0", kDense, {flag.c_str()}, 8});
    std::string messages;
    for (const Diagnostic& finding : test::lint_text("pod.yaml", text).findings) {
      if (finding.rule == "KVB301" || finding.rule == "KVB305") messages += finding.message + "\n";
      for (const Note& note : finding.notes) {
        CHECK(note.message.find("divides layers instead") == std::string::npos);
      }
    }
    INFO(messages);
    CHECK(messages.find("cannot be split over tensor-parallel-size " + std::string(size)) !=
          std::string::npos);
    CHECK(messages.find("tensor-parallel-size " + std::string(size) + " needs " + size +
                        " GPUs, the engine gets 8") != std::string::npos);
  }
}
