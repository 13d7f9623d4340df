// Rules about load: what of a declared load each speaks of.

#include <string>

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* what;
  std::string load;
  std::string arguments;  ///< more of them
  std::string rules;      ///< that speak, with blanks between
};

// 14.2 GiB of weights on an L4, whose cache holds some 5,100 blocks of 16 tokens.
std::string pod(const Case& c) {
  return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: chat\n  annotations:\n"
         "    kvbudget.io/workload: \"" +
         c.load +
         "\"\nspec:\n  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}\n"
         "  containers:\n    - name: vllm\n      image: vllm/vllm-openai:v0.19.0\n"
         "      args: [\"--model=Qwen/Qwen2.5-7B-Instruct\", \"--max-model-len=24000\"" +
         c.arguments + "]\n      resources: {limits: {nvidia.com/gpu: 1}}\n";
}

void check(const Case& c) {
  std::set<std::string> rules;
  for (const auto& [line, rule] : test::found("pod.yaml", pod(c))) rules.insert(rule);
  std::string got;
  for (const std::string& rule : rules) got += (got.empty() ? "" : " ") + rule;
  INFO(c.what);
  CHECK(got == c.rules);
}

const std::string kChat = "prompt-tokens: 1500, output-tokens: 500";

}  // namespace

TEST_CASE("a load is compared with what the cache holds of it") {
  const Case cases[] = {
      {"fits", "concurrency: 32, " + kChat, "", ""},
      {"does not fit", "concurrency: 64, " + kChat, "", "KVB601"},
      {"shares most of its prompt", "concurrency: 64, shared-prefix-tokens: 1400, " + kChat, "",
       ""},
      {"shares it, but nothing is cached", "concurrency: 64, shared-prefix-tokens: 1400, " + kChat,
       ", \"--no-enable-prefix-caching\"", "KVB601"},
      {"fits in 8 bit", "concurrency: 64, " + kChat, ", \"--kv-cache-dtype=fp8\"", ""},
      {"says too little", "concurrency: 64", "", ""},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("max-num-seqs is compared with the load and with the cache") {
  const Case cases[] = {
      {"few places", "concurrency: 32, " + kChat, ", \"--max-num-seqs=8\"", "KVB603"},
      {"few places, but the cache holds no more", "concurrency: 8, prompt-tokens: 20000",
       ", \"--max-num-seqs=4\", \"--max-num-batched-tokens=8192\"", "KVB601"},
      {"places for nobody", "concurrency: 32, " + kChat, ", \"--max-num-seqs=512\"", "KVB602"},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("targets are compared with the card's bandwidth") {
  const Case cases[] = {
      {"faster than memory", "concurrency: 1, tokens-per-second: 40, " + kChat, "", "KVB604"},
      {"slower than memory", "concurrency: 1, tokens-per-second: 10, " + kChat, "", ""},
      {"many requests share it", "concurrency: 32, tokens-per-second: 13, " + kChat, "", "KVB604"},
      {"long prompts in small steps", "concurrency: 1, prompt-tokens: 20000", "", "KVB605"},
      {"first token too early", "concurrency: 1, prompt-tokens: 8000, ttft-seconds: 0.1", "",
       "KVB605"},
      {"large steps hold up answers", "concurrency: 1, tokens-per-second: 21, prompt-tokens: 500",
       ", \"--max-num-batched-tokens=16384\", \"--quantization=fp8\"", "KVB605"},
  };
  for (const Case& c : cases) check(c);
}
