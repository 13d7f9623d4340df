#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

const char* const kCluster = R"(
  rayClusterConfig:
    headGroupSpec: {template: {spec: {containers: [{name: head, image: h}]}}}
    workerGroupSpecs:
      - template:
          spec:
            nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
            containers:
              - name: w
                image: rayproject/ray-llm:2.52.0
                env: [{name: VLLM_A, value: "1"}]
                resources: {limits: {nvidia.com/gpu: 8}}
)";

std::string service(const std::string& config) {
  return "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: s}\nspec:\n" + config +
         kCluster;
}

std::string text_at(const SourceFile& file, const Location& where) {
  return std::string(file.bytes().substr(where.range.begin, where.range.end - where.range.begin));
}

}  // namespace

TEST_CASE("an LLMConfig of a RayService is an engine") {
  const SourceFile file("service.yaml", service(R"(
  serveConfigV2: |
    applications:
      - name: app
        import_path: ray.serve.llm:build_openai_app
        args:
          llm_configs:
            - model_loading_config: {model_id: small, model_source: org/vllm-small}
              runtime_env: {env_vars: {VLLM_B: "2"}}
              deployment_config: {autoscaling_config: {min_replicas: 2}}
              engine_kwargs:
                tensor_parallel_size: 4
                enable_prefix_caching: false
            - model_loading_config:
                model_id: org/large
              accelerator_type: H100
              deployment_config: {num_replicas: 1}
              engine_kwargs: {tensor_parallel_size: 8, pipeline_parallel_size: 2,
                              max_model_len: $LENGTH}
)"));
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 2);
  const EngineStart& small = contents.starts[0];
  CHECK(small.kind == "ray");
  CHECK(small.name == "RayService/s/app");
  CHECK(place_of(small) == "model_loading_config");
  CHECK(small.keys_are_arguments);
  CHECK(keys_of(small) ==
        "model=org/vllm-small served-model-name=small tensor_parallel_size=4 "
        "enable_prefix_caching=false");
  CHECK(text_at(file, small.config[2].value->where) == "4");
  CHECK(gpus_of(small) == "nvidia-l4 x4, 2 replicas");
  CHECK(small.image->str() == "rayproject/ray-llm:2.52.0");
  CHECK(env_of(small, "VLLM_A") == "1");
  CHECK(env_of(small, "VLLM_B") == "2");
  const EngineStart& large = contents.starts[1];
  CHECK(keys_of(large) ==
        "model=org/large served-model-name=org/large tensor_parallel_size=8 "
        "pipeline_parallel_size=2 max_model_len=?$LENGTH");
  CHECK(gpus_of(large) == "H100 x8 on 2 nodes, 1 replicas");
}

TEST_CASE("a Ray Serve config file is read by itself") {
  const SourceFile file("serve.yaml", R"(
applications:
  - import_path: ray.serve.llm:build_pd_openai_app
    args:
      prefill_config: {model_loading_config: {model_id: org/vllm}, accelerator_type: A100-80G}
      decode_config: {model_loading_config: {model_id: org/vllm}, engine_kwargs: {seed: 1}}
      proxy_config: {cpus: 1}
)");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 2);
  CHECK(gpus_of(contents.starts[0]) == "A100-80G x1");
  CHECK(keys_of(contents.starts[1]) == "model=org/vllm served-model-name=org/vllm seed=1");
}

TEST_CASE("an application's own script is read from its ConfigMap") {
  const SourceFile file("service.yaml", R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: code}
data:
  app.py: |
    from vllm import AsyncEngineArgs
    LENGTH = 4096
    class Server:
        def __init__(self, model: str, size: int):
            self.args = AsyncEngineArgs(
                model=model, tensor_parallel_size=size, max_model_len=LENGTH,
                enforce_eager=True, seed=pick())
    app = Server.bind(model=os.environ.get("MODEL", "org/other"), size=int(os.environ["TP"]))
---
)" + service(R"(
  serveConfigV2: |
    applications:
      - import_path: app:app
        runtime_env: {env_vars: {MODEL: org/name, TP: "2"}}
        deployments: [{name: Server, num_replicas: 3}]
)"));
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  const EngineStart& start = contents.starts[0];
  CHECK(keys_of(start) ==
        "model=org/name tensor_parallel_size=2 max_model_len=4096 enforce_eager=true "
        "seed=?${pick()}");
  CHECK(gpus_of(start) == "nvidia-l4 x2, 3 replicas");
  CHECK(text_at(file, start.config[0].value->where) == "org/name");
}

TEST_CASE("the script of a RayJob is read from its ConfigMap") {
  const SourceFile file("job.yaml", R"(
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: j}
spec:
  entrypoint: python /home/ray/job.py --n 1
  runtimeEnvYAML: |
    env_vars: {SOURCE: s3://bucket/vllm}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: code}
data:
  job.py: |
    SOURCE = os.environ["SOURCE"]
    config = vLLMEngineProcessorConfig(
        model_source=SOURCE,
        engine_kwargs=dict(max_model_len=8_192, limit_mm_per_prompt={"image": 1}),
        accelerator_type="L40S", batch_size=64)
)");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(keys_of(contents.starts[0]) ==
        "model=s3://bucket/vllm max_model_len=8192 limit_mm_per_prompt=…");
  CHECK(gpus_of(contents.starts[0]) == "L40S x1");
}
