#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* model;  ///< an item of `modelSpec`, in flow form
  const char* starts;
};

}  // namespace

TEST_CASE("the stack's model specs become the chart's commands") {
  const Case cases[] = {
      {"{repository: vllm/vllm-openai, tag: v0.9.0, modelURL: org/m, replicaCount: 2, requestGPU: "
       "1}",
       "org/m; image vllm/vllm-openai:v0.9.0; gpu 1 nvidia.com/gpu; replicas 2"},
      {"{modelURL: org/m, requestGPU: 1, requestGPUType: nvidia.com/mig-1g.10gb}",
       "org/m; gpu 1 nvidia.com/mig-1g.10gb"},
      {"{modelURL: org/m, vllmConfig: {maxModelLen: 4096, enablePrefixCaching: false, "
       "enableChunkedPrefill: true, gpuMemoryUtilization: 0.8, extraArgs: [--seed, '1']}}",
       "org/m --enable-chunked-prefill --no-enable-prefix-caching --max-model-len 4096 "
       "--gpu-memory-utilization 0.8 --seed 1"},
      {"{modelURL: org/m, enableLoRA: true, enableTool: false, toolCallParser: '', "
       "modelRevision: abc, extraArgs: [--enforce-eager]}",
       "org/m --enable-lora --enforce-eager --revision abc"},
      {"{modelURL: org/m, vllmConfig: {v0: '1'}, lmcacheConfig: {enabled: true}}",
       "org/m --kv-transfer-config "
       "{\"kv_connector\":\"LMCacheConnector\",\"kv_role\":\"kv_both\"}"},
      {"{modelURL: org/m, lmcacheConfig: {enabled: true, kvRole: kv_producer}}",
       "org/m --kv-transfer-config "
       "{\"kv_connector\":\"LMCacheConnectorV1\",\"kv_role\":\"kv_producer\"}"},
      {"{modelURL: org/m, chatTemplate: a.jinja}", "org/m --chat-template /templates/a.jinja"},
      {"{modelURL: '${model}', vllmConfig: {maxModelLen: '{{ .x }}'}}",
       "?${model} --max-model-len ?{{ .x }}"},
      {"{modelURL: org/m, replicaCount: 3, requestGPU: 2, raySpec: {enabled: true, headNode: "
       "{requestGPU: 2}}}",
       "org/m; gpu 2 nvidia.com/gpu; replicas 1; nodes 4"},
      {"{modelURL: org/m, requestGPU: 1, nodeSelectorTerms: [{matchExpressions: [{key: "
       "nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4]}]}]}",
       "org/m; gpu 1 NVIDIA-L4 nvidia.com/gpu"},
      {"{modelURL: org/m, resources: {limits: {amd.com/gpu: 4}}}", "org/m; gpu 4 amd.com/gpu"},
      {"{modelURL: org/m, enabled: false}", ""},
      {"text", ""},
  };
  for (const Case& item : cases) {
    INFO(item.model);
    const SourceFile file("values.yaml", "servingEngineSpec:\n  modelSpec:\n    # vllm\n    - " +
                                             std::string(item.model) + "\n");
    CHECK(summaries_of(file) == item.starts);
  }
}

TEST_CASE("the stack's values are found below other charts' keys and may be switched off") {
  const std::string spec =
      "  servingEngineSpec:\n    modelSpec:\n      - name: a\n        modelURL: org/m\n";
  CHECK(summaries_of(SourceFile("v.yaml", "vllm-stack:\n" + spec)) == "org/m");
  CHECK(summaries_of(SourceFile("v.yaml", "vllm-stack:\n" + spec + "    enableEngine: false\n")) ==
        "");
}

TEST_CASE("settings of the stack stand at their keys' values") {
  const SourceFile file("v.tpl",
                        "servingEngineSpec:\n"
                        "  modelSpec:\n"
                        "  - name: a\n"
                        "    modelURL: \"org/m\"\n"
                        "    env: [{name: VLLM_USE_V1, value: '1'}]\n"
                        "    vllmConfig:\n"
                        "      maxModelLen: 4096\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  const EngineStart& start = contents.starts[0];
  CHECK(start.kind == "helm-values");
  CHECK(start.name == "modelSpec/a");
  CHECK(line_of(start.where) == 3);
  CHECK(position_of(start, "org/m") == "4:16");
  CHECK(position_of(start, "--max-model-len") == "7:7");
  CHECK(position_of(start, "4096") == "7:20");
  CHECK(env_of(start, "VLLM_USE_V1") == "1");
}

TEST_CASE("a VLLMRuntime becomes the operator's command") {
  const SourceFile file(
      "r.yaml",
      "apiVersion: production-stack.vllm.ai/v1alpha1\n"
      "kind: VLLMRuntime\n"
      "metadata: {name: r}\n"
      "spec:\n"
      "  model: {modelURL: org/m, enableLoRA: true, maxModelLen: 8192}\n"
      "  vllmConfig: {enablePrefixCaching: false, tensorParallelSize: 2, v1: true}\n"
      "  lmCacheConfig: {enabled: true}\n"
      "  deploymentConfig:\n"
      "    replicas: 2\n"
      "    resources: {gpu: '2', gpuType: nvidia.com/gpu}\n"
      "    image: {registry: docker.io, name: 'vllm/vllm-openai:v0.9.1'}\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  const EngineStart& start = contents.starts[0];
  CHECK(summary_of(start) ==
        "org/m --enable-lora --no-enable-prefix-caching --tensor-parallel-size 2 "
        "--max-model-len 8192 --kv-transfer-config "
        "{\"kv_connector\":\"LMCacheConnectorV1\",\"kv_role\":\"kv_both\"}; "
        "image docker.io/vllm/vllm-openai:v0.9.1; gpu 2 nvidia.com/gpu; replicas 2");
  CHECK(start.name == "VLLMRuntime/r");
  CHECK(line_of(start.where) == 1);
  CHECK(env_of(start, "VLLM_USE_V1") == "1");
  CHECK(env_of(start, "VLLM_ALLOW_RUNTIME_LORA_UPDATING") == "True");
}
