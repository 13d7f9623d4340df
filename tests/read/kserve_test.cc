#include "tests/read/checked_starts.h"
#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::vector<EngineStart> starts_of(const SourceFile& file) {
  std::vector<EngineStart> starts = checked_starts(file);
  for (const EngineStart& start : starts) CHECK(start.kind == "kserve");
  return starts;
}

std::string service(const std::string& predictor, const std::string& more = "") {
  return "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: llm}\n"
         "spec:\n  predictor:\n" +
         predictor + more;
}

constexpr const char* kRuntime =
    "---\napiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\n"
    "metadata:\n  name: vllm-rt\n  annotations: {opendatahub.io/runtime-version: v0.9.1}\n"
    "spec:\n  containers:\n  - name: kserve-container\n    image: x\n"
    "    command: [python, -m, vllm.entrypoints.openai.api_server]\n"
    "    args: [--port=8080, --model=/mnt/models]\n"
    "    env: [{name: VLLM_A, value: '1'}, {name: VLLM_B, value: '1'}]\n";

std::string llm_service(const std::string& spec) {
  return "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {name: "
         "llm}\n"
         "spec:\n  model: {uri: 'hf://org/model:main', name: served}\n" +
         spec;
}

}  // namespace

TEST_CASE("a runtime is read as the pod it is, with the release that its annotation names") {
  const SourceFile file("f.yaml", kRuntime);
  const auto starts = starts_of(file);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].name == "ServingRuntime/vllm-rt/kserve-container");
  CHECK(words_of(starts[0]) == "--port=8080 --model=/mnt/models");
  REQUIRE(starts[0].version);
  CHECK(starts[0].version->view() == "v0.9.1");
}

TEST_CASE("a service and its runtime in one file are one engine") {
  const SourceFile file(
      "f.yaml",
      service("    minReplicas: 2\n    model:\n      modelFormat: {name: vLLM}\n"
              "      runtime: vllm-rt\n      storageUri: hf://org/m\n"
              "      args: [--max-model-len=4096]\n      env: [{name: VLLM_B, value: '2'}]\n"
              "      resources: {limits: {nvidia.com/gpu: 2}}\n",
              kRuntime));
  const auto starts = starts_of(file);
  REQUIRE(starts.size() == 1);
  CHECK(words_of(starts[0]) == "--port=8080 --model org/m --max-model-len=4096");
  CHECK(env_of(starts[0], "VLLM_A") == "1");
  CHECK(env_of(starts[0], "VLLM_B") == "2");
  CHECK(starts[0].replicas->value == 2);
  CHECK(starts[0].gpu.count->value == 2);
  CHECK(starts[0].version->view() == "v0.9.1");
}

TEST_CASE("a service whose runtime is elsewhere says what the runtime is told") {
  struct Case {
    const char* predictor;
    const char* words;
  };
  const Case cases[] = {
      {"    model:\n      modelFormat: {name: vLLM}\n      storageUri: hf://org/m\n"
       "      args: [--max-model-len=1]\n",
       "--model org/m --max-model-len=1"},
      {"    model:\n      modelFormat: {name: vLLM}\n      storage: {key: a, path: llama}\n",
       "--model /mnt/models"},
      {"    model:\n      modelFormat: {name: pytorch}\n      runtime: my-vllm\n"
       "      storageUri: 's3://b/m'\n",
       "--model /mnt/models"},
      {"    workerSpec: {pipelineParallelSize: 2, tensorParallelSize: 8}\n    model:\n"
       "      modelFormat: {name: vLLM}\n      storageUri: pvc://m\n",
       "--model /mnt/models --tensor-parallel-size 8 --pipeline-parallel-size 2"},
      {"    model:\n      modelFormat: {name: huggingface}\n"
       "      args: [--model_id=org/m, --model_name, n, --backend=vllm, --max_model_len=1]\n"
       "      resources: {limits: {nvidia.com/gpu: 1}}\n",
       "--model org/m --served-model-name n --max_model_len=1"},
  };
  for (const Case& item : cases) {
    INFO(item.predictor);
    const SourceFile file("f.yaml", service(item.predictor));
    const auto starts = starts_of(file);
    REQUIRE(starts.size() == 1);
    CHECK(words_of(starts[0]) == item.words);
    CHECK(starts[0].name == "InferenceService/llm");
  }
}

TEST_CASE("services of other servers give nothing") {
  for (const char* predictor :
       {"    model: {modelFormat: {name: sklearn}, storageUri: 's3://vllm'}\n",
        "    model: {modelFormat: {name: huggingface}, args: [--backend=huggingface, "
        "--max_model_len=1]}"
        "\n",
        "    model: {modelFormat: {name: triton}, args: [--max-model-len=1]}\n"}) {
    INFO(predictor);
    const SourceFile file("f.yaml", service(predictor));
    CHECK(starts_of(file).empty());
  }
}

TEST_CASE("an LLMInferenceService without a command runs the controller's") {
  struct Case {
    const char* spec;
    const char* words;
    uint32_t nodes;
  };
  const Case cases[] = {
      {"", "org/model --served-model-name served", 0},
      {"  parallelism: {tensor: 4, expert: true}\n",
       "org/model --served-model-name served --tensor-parallel-size 4", 0},
      {"  parallelism: {tensor: 1, data: 16, dataLocal: 8, expert: true}\n  worker: {}\n",
       "org/model --served-model-name served --tensor-parallel-size 1 --data-parallel-size 16 "
       "--data-parallel-size-local 8 --enable-expert-parallel",
       2},
      {"  parallelism: {tensor: 8, pipeline: 2}\n  worker: {}\n",
       "org/model --served-model-name served --tensor-parallel-size 8 --pipeline-parallel-size 2 "
       "--nnodes 2",
       2},
      {"  template:\n    containers:\n    - name: main\n      env:\n"
       "      - name: VLLM_ADDITIONAL_ARGS\n        value: \"--kv_cfg '{\\\"a\\\": 1}' -tp $TP\"\n"
       "      - {name: TP, value: '2'}\n      args: [--port, '1']\n",
       "org/model --served-model-name served --kv_cfg {\"a\": 1} -tp 2 --port 1", 0},
      {"  template:\n    containers:\n    - name: main\n      command: [vllm, serve, /mnt/models]\n"
       "      args: [--port, '1']\n",
       "org/model --port 1", 0},
      {"  baseRefs: [{name: mine}]\n", "org/model --served-model-name served ?mine", 0},
      {"  baseRefs: [{name: kserve-config-llm-template}]\n", "org/model --served-model-name served",
       0},
  };
  for (const Case& item : cases) {
    INFO(item.spec);
    const SourceFile file("vllm.yaml", "# vllm\n" + llm_service(item.spec));
    const auto starts = starts_of(file);
    REQUIRE(starts.size() == 1);
    CHECK(words_of(starts[0]) == item.words);
    CHECK((starts[0].nodes ? starts[0].nodes->value : 0) == item.nodes);
  }
}

TEST_CASE("prefill of an LLMInferenceService is an engine of its own") {
  const SourceFile file("f.yaml",
                        "# vllm\n" + llm_service("  replicas: 3\n  prefill:\n    replicas: 2\n"
                                                 "    parallelism: {tensor: 2}\n"));
  const auto starts = starts_of(file);
  REQUIRE(starts.size() == 2);
  CHECK(starts[0].replicas->value == 3);
  CHECK(starts[1].name == "LLMInferenceService/llm/prefill");
  CHECK(starts[1].replicas->value == 2);
  CHECK(words_of(starts[1]) == "org/model --served-model-name served --tensor-parallel-size 2");
}

TEST_CASE("adapters of an LLMInferenceService make it serve LoRA") {
  const SourceFile file(
      "f.yaml",
      "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nspec:\n  model:\n"
      "    uri: pvc://models\n    lora:\n      maxRank: 32\n"
      "      adapters: [{name: a, uri: 'hf://o/vllm-a'}]\n");
  const auto starts = starts_of(file);
  REQUIRE(starts.size() == 1);
  CHECK(words_of(starts[0]) ==
        "/mnt/models --enable-lora --max-lora-rank 32 --lora-modules "
        "{\"name\":\"a\",\"path\":\"/mnt/lora/a\"}");
}

TEST_CASE("a config that services of the file build on is read with them") {
  const std::string config =
      "---\napiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceServiceConfig\n"
      "metadata: {name: mine}\nspec:\n  template:\n    containers:\n    - name: main\n"
      "      image: vllm/vllm-openai:v0.9.1\n      command: [vllm, serve, /mnt/models]\n"
      "      args: [--port, '1']\n      env: [{name: VLLM_A, value: '1'}]\n";
  SECTION("together") {
    const SourceFile file("f.yaml",
                          llm_service("  baseRefs: [{name: mine}]\n  template:\n    containers:\n"
                                      "    - name: main\n      args: [--port, '2']\n") +
                              config);
    const auto starts = starts_of(file);
    REQUIRE(starts.size() == 1);
    CHECK(words_of(starts[0]) == "org/model --port 2");
    CHECK(starts[0].image->view() == "vllm/vllm-openai:v0.9.1");
    CHECK(env_of(starts[0], "VLLM_A") == "1");
  }
  SECTION("alone") {
    const SourceFile file("f.yaml", config);
    const auto starts = starts_of(file);
    REQUIRE(starts.size() == 1);
    CHECK(words_of(starts[0]) == "/mnt/models --port 1");
  }
  SECTION("without a command") {
    const SourceFile file("f.yaml",
                          "# vllm\napiVersion: serving.kserve.io/v1alpha1\n"
                          "kind: LLMInferenceServiceConfig\nspec: {router: {scheduler: {}}}\n");
    CHECK(starts_of(file).empty());
  }
}
