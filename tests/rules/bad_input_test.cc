// Files that no editor meant to write: each gives one clear finding, never a crash and never
// silence.

#include <string>

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

using namespace kvbudget;

namespace {

const std::string kPod = R"(apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=meta-llama/Llama-3.1-8B-Instruct
        - --max-model-len=131072
      resources: {limits: {nvidia.com/gpu: 1}}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

struct Case {
  const char* what;
  std::string text;
  test::LineRules findings;
};

}  // namespace

TEST_CASE("line breaks and marks of other systems change nothing") {
  const test::LineRules finding = {{11, "KVB103"}};
  CHECK(test::found("pod.yaml", kPod) == finding);
  CHECK(test::found("pod.yaml", "\xEF\xBB\xBF" + kPod) == finding);
  CHECK(test::found("pod.yaml", replaced(kPod, "\n", "\r\n")) == finding);
}

TEST_CASE("a file that is broken gives one finding at the place where it breaks") {
  const Case cases[] = {
      {"empty", "", {{1, "KVB000"}}},
      {"blank", " \n\n", {{1, "KVB000"}}},
      {"binary",
       std::string("\x7f"
                   "ELF\0\1\2\3",
                   8),
       {{1, "KVB000"}}},
      {"a NUL byte", replaced(kPod, "chat", std::string("c\0t", 3)), {{3, "KVB000"}}},
      {"nested without end", "a: " + std::string(200'000, '['), {{1, "KVB000"}}},
      {"nested without end, JSON",
       replaced(std::string(50'000, 'x'), "x", "{\"a\":"),
       {{1, "KVB000"}}},
      {"cut off in a mapping", kPod.substr(0, kPod.find("nvidia.com/gpu") + 16), {{12, "KVB000"}}},
      {"bytes that are no UTF-8",
       replaced(kPod, "chat", "\xff\xfe"),
       {{3, "KVB000"}, {11, "KVB103"}}},
      {"larger than any deployment", std::string((16U << 20) + 1, 'a'), {{1, "KVB000"}}},
  };
  for (const Case& c : cases) {
    const test::LineRules got = test::found("pod.yaml", c.text);
    INFO(c.what << " gives\n" << test::to_text(got));
    CHECK(got == c.findings);
  }
}

TEST_CASE("tabs that indent are named and the rest of the file is still read") {
  const test::LineRules got = test::found("pod.yaml", kPod + "---\nkind: Pod\n\tspec: {}\n");
  CHECK(got == test::LineRules{{11, "KVB103"}, {15, "KVB000"}});
}

TEST_CASE("numbers that no engine takes are refused and not judged") {
  for (const char* value : {"99999999999999999999999", "-5", "8,192", "many"}) {
    INFO(value);
    CHECK(test::found("pod.yaml", replaced(kPod, "131072", value)) ==
          test::LineRules{{11, "KVB418"}});
  }
}
