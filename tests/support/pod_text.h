// A small Pod with one engine, for tests of rules that look at card, release, model and flags.
#pragma once

#include <string>
#include <vector>

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

}  // namespace kvbudget::test
