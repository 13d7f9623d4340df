#include "tests/read/starts.h"
#include "tests/read/word_places.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::string graph(const std::string& component) {
  return "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: g}\n"
         "spec:\n  services:\n    Worker:\n" +
         component;
}

struct Case {
  const char* component;
  const char* words;
  const char* gpus;
};

}  // namespace

TEST_CASE("a Dynamo component gives the engine and its GPUs") {
  const Case cases[] = {
      {R"(
      replicas: 2
      resources: {limits: {gpu: "4"}}
      extraPodSpec:
        mainContainer:
          image: x
          command: [python3, -m, dynamo.vllm]
          args: [--model, org/name, --is-prefill-worker, --max-model-len, "4096"]
)",
       "--model org/name --max-model-len 4096", "? x4, 2 replicas"},
      {R"(
      multinode: {nodeCount: 2}
      resources: {requests: {gpu: 8}}
      envs: [{name: M, value: org/name}]
      extraPodSpec:
        nodeSelector: {nvidia.com/gpu.product: NVIDIA-H200}
        mainContainer:
          command: [/bin/sh, -c]
          args:
            - |
              exec python3 -m dynamo.vllm --model "$M" \
                --disaggregation-mode decode --data-parallel-size 16
)",
       "--model org/name --data-parallel-size 16", "NVIDIA-H200 x8 on 2 nodes"},
      {R"(
      extraPodSpec:
        mainContainer:
          image: vllm-runtime
          command: [sh, -c, "python3 components/main.py --model m --enforce-eager 2>&1 | tee log"]
)",
       "--model m --enforce-eager", "? x?"},
      {R"(
      podTemplate:
        spec:
          containers:
            - name: main
              command: [python3, -m, dynamo.vllm, --model, m, --dyn-tool-call-parser=hermes, -tp, "2"]
              resources: {limits: {nvidia.com/gpu: "2"}}
)",
       "--model m -tp 2", "? x2"},
  };
  for (const Case& item : cases) {
    INFO(item.component);
    const SourceFile file("graph.yaml", graph(item.component));
    const FileContents contents = read_file(file);
    REQUIRE(contents.starts.size() == 1);
    const EngineStart& start = contents.starts[0];
    CHECK(start.kind == "dynamo");
    CHECK_FALSE(start.serve);
    CHECK(words_of(start) == item.words);
    CHECK(gpus_of(start) == item.gpus);
    CHECK(misplaced_word(start) == "");
  }
}

TEST_CASE("Dynamo's components of other kinds start no engine") {
  const SourceFile file("graph.yaml", graph(R"(
      extraPodSpec:
        mainContainer: {image: nvcr.io/x/vllm-runtime:1, args: [--backend=vllm]}
    Other:
      extraPodSpec:
        mainContainer:
          command: [python3, -m, dynamo.trtllm]
          args: [--model-path, m]
)"));
  CHECK(read_file(file).starts.empty());
}

TEST_CASE("sections of a Dynamo configuration are engines with what they share") {
  const SourceFile file("agg.yaml", R"(
Common:
  model: org/name
  max-model-len: 8192
  router: kv
Frontend: {served_model_name: n, port: 8000}
Processor: {router: kv, common-configs: [model]}
VllmWorker:
  max-model-len: 4096
  remote-prefill: true
  tensor-parallel-size: 2
  ServiceArgs: {workers: 3, resources: {gpu: 2}}
  common-configs: [model, max-model-len, router]
)");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(place_of(contents.starts[0]) == "VllmWorker");
  CHECK(keys_of(contents.starts[0]) == "model=org/name max-model-len=4096 tensor-parallel-size=2");
  CHECK(gpus_of(contents.starts[0]) == "? x2, 3 replicas");
}

TEST_CASE("a graph's configuration in a variable reaches its components") {
  const SourceFile file("graph.yaml", R"(
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: g}
spec:
  envs:
    - name: DYN_DEPLOYMENT_CONFIG
      value: '{"Common":{"model":"org/vllm-model"},"Worker":{"block-size":64,"ServiceArgs":{"workers":1},"common-configs":["model"]}}'
  services:
    Worker:
      replicas: 2
      resources: {limits: {gpu: 1}}
      extraPodSpec:
        mainContainer: {image: i, command: [sh, -c, "dynamo serve g:Worker --service-name Worker"]}
)");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  const EngineStart& start = contents.starts[0];
  CHECK(keys_of(start) == "model=org/vllm-model block-size=64");
  CHECK(gpus_of(start) == "? x1, 2 replicas");
  CHECK(start.image->str() == "i");
  const Location value = start.config[0].value->where;
  CHECK(file.bytes().substr(value.range.begin, value.range.end - value.range.begin) ==
        "org/vllm-model");
}

TEST_CASE("what Dynamo's worker takes for itself is kept beside the engine's words") {
  const SourceFile file("run.sh",
                        "python3 -m dynamo.vllm --model m --is-prefill-worker --connector nixl "
                        "lmcache --no-durable-kv-events --dyn-tool-call-parser=hermes --seed 1\n");
  const EngineStart start = read_file(file).starts.at(0);
  CHECK(words_of(start) == "--model m --seed 1");
  std::string own;
  for (const WrapperFlag& flag : start.wrapper_flags) {
    const Position at = file.position(flag.value.location().range.begin);
    own += flag.name + "=" + flag.value.str() + "@" + std::to_string(at.column) + " ";
  }
  CHECK(own ==
        "is-prefill-worker=true@34 connector=nixl lmcache@66 durable-kv-events=false@79 "
        "dyn-tool-call-parser=hermes@125 ");
}
