// Mistakes on command lines, in config files and in variables: which rule names them, in which
// release. One mistake is named once.

#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

using namespace kvbudget;

namespace {

struct Row {
  const char* version;
  std::vector<std::string> words;  // items of `args`, as YAML
  std::string rules;               // of the 4xx group, in order
};

std::string pod(const std::string& version, const std::string& body) {
  return R"(apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v)" +
         version + R"(
      resources: {limits: {nvidia.com/gpu: 1}}
)" + body;
}

std::string pod_with_args(const Row& row) {
  std::string body = "      args:\n        - --model=Qwen/Qwen2.5-7B-Instruct\n";
  for (const std::string& word : row.words) body += "        - " + word + "\n";
  return pod(row.version, body);
}

std::string rules_in(const std::string& text) {
  std::set<std::string> rules;
  for (const auto& [line, rule] : test::found("pod.yaml", text)) {
    if (rule.starts_with("KVB4")) rules.insert(rule);
  }
  std::string joined;
  for (const std::string& rule : rules) joined += (joined.empty() ? "" : " ") + rule;
  return joined;
}

void check_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const std::string text = pod_with_args(row);
    INFO(text);
    CHECK(rules_in(text) == row.rules);
  }
}

std::string pod_with_script(const std::string& script) {
  return pod("0.19.0", "      command: [sh, -c]\n      args:\n        - |\n" + script);
}

std::string pod_with_config(const std::string& version, const std::string& line) {
  return R"(apiVersion: v1
kind: ConfigMap
metadata: {name: chat}
data:
  serve.yaml: |
    model: Qwen/Qwen2.5-7B-Instruct
    max-model-len: 8192
    )" + line +
         R"(
---
)" + pod(version, R"(      args: [--config, /etc/vllm/serve.yaml]
      volumeMounts: [{name: config, mountPath: /etc/vllm}]
  volumes: [{name: config, configMap: {name: chat}}]
)");
}

}  // namespace

TEST_CASE("each stop of the parser is named by one rule") {
  check_rows({
      {"0.19.0", {"--max-model-len=8192"}, ""},
      {"0.19.0", {"--max-num-seqs=1k"}, "KVB418"},
      {"0.19.0", {"'--max-model-len=8,192'"}, "KVB418"},
      {"0.19.0", {"--max-model-len=1e4"}, "KVB418"},
      {"0.19.0", {"--max-model-len=8.5K"}, "KVB418"},
      {"0.19.0", {"--dtype=fp16"}, "KVB418"},
      {"0.19.0", {"--gpu-memory-utilization=90"}, "KVB418"},
      {"0.19.0", {"--gpu-memory-utilization=90%"}, "KVB418"},
      {"0.19.0", {"\"--speculative-config={'method': 'ngram'}\""}, "KVB418"},
      {"0.19.0", {"--max-num=4"}, "KVB418"},
      {"0.19.0", {"--max-model-len"}, "KVB418"},
      {"0.19.0", {"--max-model-len=auto"}, ""},
      {"0.13.0", {"--max-model-len=auto"}, "KVB418"},
      {"0.13.0", {"--max-model-len=-1"}, "KVB418"},
      {"0.19.0", {"--enforce-eager=true"}, "KVB417"},
      {"0.19.0", {"--enable-prefix-caching", "\"False\""}, "KVB417"},
      {"0.8.2", {"--no-enforce-eager"}, "KVB417"},
      {"0.8.4", {"--enable-chunked-prefill=True"}, ""},
      {"0.9.0", {"--enable-chunked-prefill=True"}, "KVB417"},
      {"0.19.0", {"--max-model-len 8192"}, "KVB420"},
      {"0.19.0", {"--swap-space=16"}, "KVB401"},
      {"0.19.0", {"--config=/etc/serve.yaml"}, "KVB415"},
      {"0.19.0", {"--config", "/etc/serve.json"}, "KVB415"},
      {"0.19.0", {"--enable-lora", "--max-lora-rank=48"}, "KVB413"},
  });
}

TEST_CASE("a suffix that means thousands is told from one that is meant so") {
  check_rows({
      {"0.19.0", {"--max-model-len=16k"}, "KVB412"},
      {"0.19.0", {"--max-model-len=16K"}, ""},
      {"0.19.0", {"--max-model-len=10k"}, ""},
      {"0.19.0", {"--max-num-seqs=8", "--max-num-seqs=16"}, "KVB412"},
      {"0.19.0", {"--max-num-seqs=8", "--max-num-seqs=8"}, ""},
  });
}

TEST_CASE("the checks of the scheduler and of adapters hold by release") {
  check_rows({
      {"0.19.0", {"--max-num-batched-tokens=256", "--max-num-seqs=512"}, "KVB407"},
      {"0.19.0", {"--max-model-len=8192", "--long-prefill-token-threshold=9000"}, ""},
      {"0.28.0", {"--max-model-len=8192", "--long-prefill-token-threshold=9000"}, "KVB407"},
      {"0.19.0",
       {"--max-model-len=16384", "--no-enable-chunked-prefill", "--max-num-batched-tokens=4096"},
       "KVB406"},
      {"0.19.0",
       {"--max-model-len=16384", "--no-enable-chunked-prefill", "--max-num-batched-tokens=16384"},
       "KVB406"},
      {"0.9.2", {"--enable-lora", "--max-cpu-loras=1", "--max-loras=2"}, "KVB413"},
      {"0.19.0", {"--lora-modules", "sql=/adapters/sql"}, "KVB413"},
      {"0.19.0", {"--enable-lora", "--lora-modules", "sql=/adapters/sql"}, ""},
      {"0.19.0", {"--quantization=hqq"}, "KVB403"},
      {"0.14.1", {"--quantization=hqq"}, "KVB403"},
      {"0.14.1", {"--quantization=hqq", "--allow-deprecated-quantization"}, ""},
      {"0.13.0", {"--quantization=hqq"}, ""},
      {"0.19.0", {"'--speculative-config={\"method\":\"ngram\"}'"}, "KVB414"},
  });
}

TEST_CASE("words that repeat the image's entrypoint are named") {
  check_rows({{"0.19.0", {}, ""}});
  const auto with = [](const std::string& body) { return rules_in(pod("0.19.0", body)); };
  CHECK(with("      args: [vllm, serve, Qwen/Qwen2.5-7B-Instruct]\n") == "KVB419");
  CHECK(with("      args: [serve, Qwen/Qwen2.5-7B-Instruct]\n") == "KVB419");
  CHECK(with("      args: [python3, -m, vllm.entrypoints.openai.api_server, --max-num-seqs=8]\n") ==
        "KVB419");
  CHECK(with("      command: [--model=Qwen/Qwen2.5-7B-Instruct, --max-model-len=8192]\n") ==
        "KVB419");
  CHECK(with("      command: [vllm, serve, Qwen/Qwen2.5-7B-Instruct]\n") == "");
}

TEST_CASE("options behind the end of a shell's command are named") {
  const auto with = [](const std::string& script) { return rules_in(pod_with_script(script)); };
  const std::string serve = "          vllm serve Qwen/Qwen2.5-7B-Instruct";
  const std::string option = "            --max-model-len 8192\n";
  CHECK(with(serve + " \\\n" + option) == "");
  CHECK(with(serve + "\n" + option) == "KVB421");
  CHECK(with(serve + " \\ \n" + option) == "KVB421");
  CHECK(with(serve + " \\\n\n" + option) == "KVB421");
  CHECK(with(serve + " \\\n            # as long as it fits\n" + option) == "KVB421");
  CHECK(with(serve + "\n          echo --max-model-len\n") == "");
}

TEST_CASE("keys of a config file that do not do what they say are named") {
  const auto with = [](const char* version, const std::string& line) {
    return rules_in(pod_with_config(version, line));
  };
  CHECK(with("0.19.0", "enable-prefix-caching: false") == "KVB416");
  CHECK(with("0.19.0", "no-enable-prefix-caching: true") == "");
  CHECK(with("0.19.0", "enforce-eager: false") == "");
  CHECK(with("0.19.0", "enforce-eager: \"true\"") == "KVB416");
  CHECK(with("0.19.0", "max-num-seqs:") == "KVB416");
  CHECK(with("0.19.0", "max-num-seqs: 1k") == "KVB418");
}

TEST_CASE("variables that the release or the platform does not read are named") {
  const auto with = [](const char* version, const std::string& name, const std::string& value) {
    return rules_in(pod(version,
                        "      args: [--model=Qwen/Qwen2.5-7B-Instruct, --max-model-len=8192]\n"
                        "      env: [{name: " +
                            name + ", value: \"" + value + "\"}]\n"));
  };
  CHECK(with("0.14.1", "VLLM_ATTENTION_BACKEND", "FLASHINFER") == "");
  CHECK(with("0.15.0", "VLLM_ATTENTION_BACKEND", "FLASHINFER") == "KVB402");
  CHECK(with("0.11.0", "VLLM_USE_V1", "1") == "");
  CHECK(with("0.11.2", "VLLM_USE_V1", "1") == "KVB402");
  CHECK(with("0.19.0", "VLLM_ASCEND_ENABLE_NZ", "1") == "");
  CHECK(with("0.19.0", "VLLM_PORT_8000_TCP_ADDR", "10.0.0.1") == "");
  CHECK(with("0.19.0", "VLLM_MY_MODEL_NAME", "chat") == "");
  CHECK(with("0.19.0", "VLLM_CPU_KVCACHE_SPACE", "40") == "KVB423");
  CHECK(with("0.19.0", "VLLM_ALLOW_LONG_MAX_MODEL_LEN", "1") == "KVB405");
  CHECK(with("0.19.0", "VLLM_ALLOW_LONG_MAX_MODEL_LEN", "0") == "");
}

TEST_CASE("a batch run takes its own options, and a server does not") {
  const auto script = [](const std::string& command) {
    return rules_in(pod_with_script("          " + command + "\n"));
  };
  CHECK(script("vllm run-batch -i in.jsonl -o out.jsonl --output-tmp-dir /d --enable-metrics "
               "--model Qwen/Qwen2.5-7B-Instruct --max-model-len 4096")
            .empty());
  CHECK(script("vllm run-batch -i in.jsonl -o out.jsonl Qwen/Qwen2.5-7B-Instruct") == "KVB418");
  CHECK(script("vllm run-batch -i a -o b --model Qwen/Qwen2.5-7B-Instruct --swap-space 4") ==
        "KVB401");
  CHECK(script("vllm serve Qwen/Qwen2.5-7B-Instruct --input-file in.jsonl") == "KVB401");
}
