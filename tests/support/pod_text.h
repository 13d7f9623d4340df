// A small Pod with one engine, for tests of rules that look at card, release, model and flags.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

namespace kvbudget::test {

struct PodCase {
  const char* gpu = "NVIDIA-H100-80GB-HBM3";
  const char* version = "0.19.0";
  const char* model = "Qwen/Qwen2.5-7B-Instruct";
  std::vector<const char*> flags;
  int gpus = 1;
};

inline std::string pod_text(const PodCase& pod) {
  std::string text =
      std::string(R"(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  hostIPC: true
  nodeSelector: {nvidia.com/gpu.product: )") +
      pod.gpu + "}\n  containers:\n    - name: vllm\n      image: vllm/vllm-openai:v" +
      pod.version + "\n      resources: {limits: {nvidia.com/gpu: " + std::to_string(pod.gpus) +
      "}}\n      args:\n        - --model=" + pod.model + "\n        - --max-model-len=4096\n";
  for (const char* flag : pod.flags) text += "        - '" + std::string(flag) + "'\n";
  return text;
}

/// Of the rules whose id begins with `group` ("KVB2"), those that fire on a pod.
inline std::set<std::string> fired(std::string_view group, const PodCase& pod) {
  std::set<std::string> ids;
  for (const auto& [line, id] : found("pod.yaml", pod_text(pod))) {
    if (id.starts_with(group)) ids.insert(id);
  }
  return ids;
}

using PodCases = std::vector<std::pair<PodCase, std::set<std::string>>>;

/// Each pod makes exactly the rules beside it fire, of those of the group.
inline void check_fired(std::string_view group, const PodCases& cases) {
  for (const auto& [pod, wanted] : cases) {
    INFO(pod_text(pod));
    CHECK(fired(group, pod) == wanted);
  }
}

}  // namespace kvbudget::test
