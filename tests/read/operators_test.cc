// Small formats of operators: AIBrix, kthena, OME, llmaz, and groups of pods that are one engine.
#include "tests/read/checked_starts.h"
#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

uint32_t value_of(const std::optional<Located<uint32_t>>& number) {
  return number ? number->value : 0;
}

}  // namespace

TEST_CASE("an AIBrix ModelClaim is what the runtime starts for it") {
  const SourceFile file("f.yaml",
                        "# pool\napiVersion: model.aibrix.ai/v1alpha1\nkind: ModelClaim\n"
                        "metadata: {name: llm}\nspec:\n  artifactURL: huggingface://org/m\n"
                        "  engine: vllm\n  replicas: 1\n  engineConfig:\n    args:\n"
                        "      --max-model-len: '2048'\n      --enforce-eager: ''\n"
                        "---\napiVersion: model.aibrix.ai/v1alpha1\nkind: ModelClaim\n"
                        "spec: {artifactURL: 's3://b/m', engine: sglang}\n");
  const auto starts = checked_starts(file);
  REQUIRE(starts.size() == 1);
  CHECK(words_of(starts[0]) ==
        "--model org/m --served-model-name llm --max-model-len 2048 --enforce-eager");
  CHECK(file.position(starts[0].where.range.begin).line == 2);
  CHECK(value_of(starts[0].replicas) == 1);
}

TEST_CASE("workers of a kthena ModelBooster are engines") {
  const SourceFile file(
      "f.yaml",
      "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelBooster\n"
      "metadata: {name: llm}\nspec:\n  backend:\n    type: vLLMDisaggregated\n"
      "    modelURI: hf://org/m\n    replicas: 2\n    env: [{name: VLLM_A, value: '1'}]\n"
      "    workers:\n    - type: prefill\n      image: vllm/vllm-openai:v0.9.1\n      replicas: 3\n"
      "      resources: {limits: {nvidia.com/gpu: 1}}\n"
      "      config: {max_model_len: 4096, enforce-eager: ''}\n"
      "    - type: decode\n      pods: 2\n      config: {tensor-parallel-size: 2}\n");
  const auto starts = checked_starts(file);
  REQUIRE(starts.size() == 2);
  CHECK(words_of(starts[0]) == "--model org/m --max_model_len 4096 --enforce-eager");
  CHECK(starts[0].name == "ModelBooster/llm/prefill");
  CHECK(value_of(starts[0].replicas) == 6);
  CHECK(value_of(starts[0].gpu.count) == 1);
  CHECK(env_of(starts[0], "VLLM_A") == "1");
  CHECK(words_of(starts[1]) ==
        "--model org/m --tensor-parallel-size 2 --distributed-executor-backend ray");
  CHECK(value_of(starts[1].nodes) == 2);
}

TEST_CASE("the runner of an OME runtime is its container") {
  const SourceFile file(
      "f.yaml",
      "apiVersion: ome.io/v1beta1\nkind: ClusterServingRuntime\nmetadata: {name: rt}\nspec:\n"
      "  routerConfig: {runner: {image: router, args: [--port, '1']}}\n"
      "  engineConfig:\n    nodeSelector: {nvidia.com/gpu.product: H200}\n"
      "    leader:\n      runner:\n        name: main\n        image: vllm/vllm-openai:v0.20.1\n"
      "        command: [vllm, serve]\n        args: [$(MODEL_PATH), -tp, '16']\n"
      "        resources: {limits: {nvidia.com/gpu: 8}}\n    worker: {size: 1}\n");
  const auto starts = checked_starts(file);
  REQUIRE(starts.size() == 1);
  CHECK(words_of(starts[0]) == "?$(MODEL_PATH) -tp 16");
  CHECK(starts[0].name == "ClusterServingRuntime/rt/engineConfig/main");
  CHECK(starts[0].gpu.name->value == "H200");
  CHECK(value_of(starts[0].nodes) == 2);
}

TEST_CASE("a llmaz runtime has one engine for each list of arguments") {
  const SourceFile file(
      "f.yaml",
      "apiVersion: inference.llmaz.io/v1alpha1\nkind: BackendRuntime\nmetadata: {name: vllm}\n"
      "spec:\n  command: [python3, -m, vllm.entrypoints.openai.api_server]\n"
      "  image: vllm/vllm-openai\n  version: v0.9.1\n  recommendedConfigs:\n"
      "  - {name: default, args: [--model, '{{`{{ .ModelPath }}`}}']}\n"
      "  - {name: small, args: [--max-model-len, '1']}\n");
  const auto starts = checked_starts(file);
  REQUIRE(starts.size() == 2);
  CHECK(words_of(starts[0]) == "--model ?{{`{{ .ModelPath }}`}}");
  CHECK(starts[0].image->view() == "vllm/vllm-openai:v0.9.1");
  CHECK(starts[1].name == "BackendRuntime/vllm/small");
  CHECK(place_of(starts[1]) == "--max-model-len");
}

TEST_CASE("a llmaz playground serves the repository of its model") {
  const SourceFile file(
      "f.yaml",
      "apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\nmetadata: {name: opt}\nspec:\n"
      "  source: {modelHub: {modelID: org/opt}}\n"
      "  inferenceConfig: {flavors: [{name: t4, limits: {nvidia.com/gpu: 2}}]}\n---\n"
      "apiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\nmetadata: {name: p}\nspec:\n"
      "  replicas: 1\n  modelClaim: {modelName: opt}\n"
      "  backendRuntimeConfig: {backendName: vllm, args: [--max-model-len, '1']}\n");
  const auto starts = checked_starts(file);
  REQUIRE(starts.size() == 1);
  CHECK(words_of(starts[0]) == "--model org/opt --max-model-len 1");
  CHECK(value_of(starts[0].gpu.count) == 2);
}

TEST_CASE("pods of a group know how many they are") {
  const SourceFile file(
      "f.yaml",
      "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l}\nspec:\n"
      "  replicas: 3\n  leaderWorkerTemplate:\n    size: 2\n    workerTemplate:\n      spec:\n"
      "        containers:\n        - command: [sh, -c]\n          env: [{name: EACH, value: "
      "'4'}]\n"
      "          args: ['vllm serve m -dp $((LWS_GROUP_SIZE * EACH)) --port=$(LWS_GROUP_SIZE)']\n");
  const auto starts = checked_starts(file);
  REQUIRE(starts.size() == 1);
  CHECK(words_of(starts[0]) == "m -dp 8 --port=2");
  CHECK(value_of(starts[0].nodes) == 2);
  CHECK(value_of(starts[0].replicas) == 3);
}

TEST_CASE("replicas of a role count for every group") {
  const SourceFile file(
      "f.yaml",
      "apiVersion: workload.serving.volcano.sh/v1alpha1\nkind: ModelServing\nmetadata: {name: s}\n"
      "spec:\n  replicas: 2\n  template:\n    roles:\n    - name: llm\n      replicas: 3\n"
      "      workerReplicas: 1\n      entryTemplate:\n        spec:\n          containers:\n"
      "          - command: [vllm, serve, m]\n");
  const auto starts = checked_starts(file);
  REQUIRE(starts.size() == 1);
  CHECK(value_of(starts[0].replicas) == 6);
  CHECK(value_of(starts[0].nodes) == 2);
}

TEST_CASE("the engine of a Ray cluster spans the pods that have GPUs") {
  const auto cluster = [](const std::string& head, const std::string& worker) {
    return "apiVersion: orchestration.aibrix.ai/v1alpha1\nkind: RayClusterFleet\nspec:\n"
           "  template:\n    spec:\n      headGroupSpec:\n        template:\n          spec:\n"
           "            containers:\n            - command: [vllm, serve, m]\n"
           "              resources: {limits: {" +
           head +
           "}}\n      workerGroupSpecs:\n      - replicas: 3\n        template:\n          spec:\n"
           "            containers:\n            - command: [ray, start]\n"
           "              resources: {limits: {" +
           worker + "}}\n";
  };
  struct Case {
    const char* head;
    const char* worker;
    uint32_t nodes;
    uint32_t gpus;
  };
  const Case cases[] = {{"nvidia.com/gpu: 1", "nvidia.com/gpu: 1", 4, 1},
                        {"cpu: 1", "nvidia.com/gpu: 8", 3, 8},
                        {"nvidia.com/gpu: 1", "nvidia.com/gpu: 8", 0, 1},
                        {"nvidia.com/gpu: 2", "cpu: 1", 0, 2}};
  for (const Case& item : cases) {
    INFO(item.head << " / " << item.worker);
    const SourceFile file("f.yaml", cluster(item.head, item.worker));
    const auto starts = checked_starts(file);
    REQUIRE(starts.size() == 1);
    CHECK(value_of(starts[0].nodes) == item.nodes);
    CHECK(value_of(starts[0].gpu.count) == item.gpus);
  }
}
