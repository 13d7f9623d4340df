#include "lint/workload.h"

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

using namespace kvbudget;

namespace {

struct Read {
  Workload workload;
  std::vector<std::string> faults;  ///< "column: message"
};

Read read(const std::string& annotation) {
  const SourceFile file("pod.yaml", annotation);
  const ByteRange all{0, static_cast<uint32_t>(annotation.size())};
  Read result;
  std::vector<SyntaxError> faults;
  read_workload(SourceText(file, all), result.workload, faults);
  for (const SyntaxError& fault : faults) {
    const Position at = file.position(fault.where.range.begin);
    result.faults.push_back(std::to_string(at.column) + ": " + fault.message);
  }
  return result;
}

std::string deployment(const std::string& annotation) {
  return R"yaml(
apiVersion: v1
kind: Pod
metadata:
  name: chat
  annotations:
    kvbudget.io/workload: ")yaml" +
         annotation + R"yaml("
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml";
}

}  // namespace

TEST_CASE("a load is read as entries with commas, as a flow mapping and as a block") {
  for (const char* text : {"concurrency: 32, prompt-tokens: 3000, ttft-seconds: 0.5",
                           "{concurrency: 32, prompt-tokens: 3000, ttft-seconds: 0.5}",
                           "concurrency: 32\nprompt-tokens: 3000\nttft-seconds: 0.5\n"}) {
    const Read got = read(text);
    INFO(text);
    CHECK(got.faults.empty());
    CHECK(got.workload.concurrency == 32.0);
    CHECK(got.workload.prompt_tokens == 3000.0);
    CHECK(got.workload.ttft_seconds == 0.5);
    CHECK_FALSE(got.workload.output_tokens.has_value());
  }
  CHECK(read("concurrency: 8").workload.concurrency == 8.0);
}

TEST_CASE("what is wrong with a load is said at its place, the rest is kept") {
  const Read got = read("concurency: 32, prompt-tokens: many, output-tokens: 500");
  REQUIRE(got.faults.size() == 2);
  CHECK(got.faults[0] == "1: unknown key 'concurency'; did you mean 'concurrency'?");
  CHECK(got.faults[1].starts_with("32: expected a number from 0"));
  CHECK(got.workload.output_tokens == 500.0);
  CHECK(read("32").faults.size() == 1);
}

TEST_CASE("a wrong annotation is a finding, a right one is none") {
  CHECK(test::found("pod.yaml", deployment("concurrency: 4, prompt-tokens: 1000")).empty());
  CHECK(test::found("pod.yaml", deployment("concurrency: 4, prompts: 1000")) ==
        test::LineRules{{7, "KVB000"}});
}

TEST_CASE("resources of operators have the annotation too") {
  std::string text = deployment("concurrency: many");
  const std::string before = "apiVersion: v1\nkind: Pod";
  text.replace(text.find(before), before.size(),
               "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService");
  text.replace(text.find("spec:\n"), 6, "spec:\n  predictor:\n");
  for (size_t at = text.find("  nodeSelector"); at != std::string::npos;
       at = text.find('\n', at + 1)) {
    if (text[at] == '\n') ++at;
    if (at < text.size()) text.insert(at, "  ");
  }
  CHECK(test::found("service.yaml", text).count({7, "KVB000"}) == 1);
}
