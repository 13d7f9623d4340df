// Recipes and test configurations: files that tools of one project turn into command lines.

#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

/// One line for each start: its words or keys, and its GPUs.
std::string starts_of(const char* yaml) {
  const SourceFile file("recipe.yaml", yaml);
  std::string result;
  for (const EngineStart& start : read_file(file).starts) {
    CHECK(misplaced_word(start) == "");
    CHECK(start.where);
    std::string line = words_of(start);
    if (!start.config.empty()) line += (line.empty() ? "" : " ") + keys_of(start);
    result += line + " | " + gpus_of(start) + "\n";
  }
  return result;
}

}  // namespace

TEST_CASE("each variant of a vLLM recipe is an engine with what every choice has in common") {
  CHECK(starts_of(R"(
meta: {title: t}
model:
  model_id: org/name
  docker_image: {nvidia: "vllm/vllm-openai:v0.20.0"}
  base_args: [--trust-remote-code]
features:
  tools: {args: [--enable-auto-tool-choice]}
  spec: {default_mode: a, modes: {a: {args: [--seed, "1"]}, b: {variants: [fp8], args: [--seed, "2"]}}}
  rare: {args: [--enforce-eager]}
opt_in_features: [rare]
variants:
  default: {precision: bf16}
  fp8: {model_id: org/name-fp8, tp: 4, extra_args: [--kv-cache-dtype, fp8]}
  amd: {supported_hardware: [mi355x], hardware_overrides: {mi355x: {extra_args: [--max-num-seqs, "8"]}}}
compatible_strategies: [single_node_tp]
hardware_overrides: {amd: {extra_args: [--block-size, "64"]}, hopper: {extra_args: [--port, "1"]}}
)") == "org/name --trust-remote-code --enable-auto-tool-choice --seed 1 | ? x?\n"
       "org/name-fp8 --trust-remote-code --kv-cache-dtype fp8 --tensor-parallel-size 4 "
       "--enable-auto-tool-choice --seed 1 | ? x?\n"
       "org/name --trust-remote-code --block-size 64 --max-num-seqs 8 --enable-auto-tool-choice "
       "--seed 1 | mi355x x?\n");
}

TEST_CASE("roles of an srt-slurm recipe are engines on their share of the machines") {
  CHECK(starts_of(R"(
model: {path: alias, container: "vllm/vllm-openai:v0.20.0"}
identity: {model: {repo: org/name}}
resources: {gpu_type: gb200, gpus_per_node: 4, prefill_nodes: 2, prefill_workers: 1,
            decode_nodes: 4, decode_workers: 2, gpus_per_decode: 4}
backend:
  type: vllm
  vllm_config:
    prefill: {data-parallel-size: 8, enable-expert-parallel: true, dyn-tool-call-parser: x}
    decode: {tensor-parallel-size: 4, seed: null}
)") == "org/name data-parallel-size=8 enable-expert-parallel=true | gb200 x4 on 2 nodes, 1 "
       "replicas\n"
       "org/name tensor-parallel-size=4 | gb200 x4, 2 replicas\n");
}

TEST_CASE("roles of an InferenceX recipe are engines") {
  CHECK(starts_of(R"(
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
prefill:
  tp: 1
  enable-expert-parallel: true
  extra-args: >-
    --kv-cache-dtype fp8
    --compilation-config {"mode":0}
decode: {tp: 8, enable-expert-parallel: false, extra-args: --max-num-seqs 256}
)") == "--tensor-parallel-size 1 --enable-expert-parallel --kv-cache-dtype fp8 "
       "--compilation-config {\"mode\":0} | ? x?\n"
       "--tensor-parallel-size 8 --max-num-seqs 256 | ? x?\n");
  CHECK(starts_of(R"(
Name-FP8:
  prefill_flags: "--tensor-parallel-size 8 --max-model-len 4K"
  decode_flags: "--tensor-parallel-size 4"
  env: "VLLM_A=1 VLLM_B=2"
  hf_dir: models--org--Name-FP8
)") == "org/Name-FP8 --tensor-parallel-size 8 --max-model-len 4K | ? x?\n"
       "org/Name-FP8 --tensor-parallel-size 4 | ? x?\n");
}

TEST_CASE("each stage of vLLM-Omni is an engine on its devices") {
  CHECK(starts_of(R"(
stages:
  - {stage_id: 0, max_model_len: 4096, max_num_seqs: 8, devices: "0,1", default_sampling_params: {}}
  - {stage_id: 1, devices: "2"}
)") == "max_model_len=4096 max_num_seqs=8 | ? x2\n");
  CHECK(starts_of(R"(
stage_args:
  - stage_id: 0
    runtime: {devices: "0"}
    engine_args: {model_stage: thinker, gpu_memory_utilization: 0.8, max_model_len: 4096}
)") == "gpu_memory_utilization=0.8 max_model_len=4096 | ? x1\n");
}

TEST_CASE("server arguments of test configurations") {
  CHECK(starts_of(R"(
model_name: org/name
server_args: >-
  --enforce-eager
  --speculative-config '{"method":"mtp"}'
env: {VLLM_X: "1"}
)") == "org/name --enforce-eager --speculative-config {\"method\":\"mtp\"} | ? x?\n");
  CHECK(starts_of(R"(
_cmd: &cmd ["--port", "$SERVER_PORT", "--max-model-len", "4096"]
test_cases:
  - {name: a, model: org/name, envs: {SERVER_PORT: DEFAULT_PORT}, server_cmd: *cmd}
)") == "org/name --port ?$SERVER_PORT --max-model-len 4096 | ? x?\n");
  CHECK(starts_of(R"(
model: org/name
config: [{node_index: 0, dp_size: 4, tp_size: 2, dp_address: "${IP}"}]
templates:
  - node_index: 0
    envs: {VLLM_X: "1"}
    server_cmd_template: [--data-parallel-size, "${DP_SIZE}", --tensor-parallel-size, "${TP_SIZE}",
                          --data-parallel-address, "${DP_ADDRESS}"]
)") == "org/name --data-parallel-size 4 --tensor-parallel-size 2 --data-parallel-address "
       "?${DP_ADDRESS} | ? x?\n");
}

TEST_CASE("whole commands and keyword arguments of test configurations") {
  CHECK(starts_of(R"(
model: org/name
deployment:
  - envs: {SERVER_PORT: 8080}
    server_cmd: >
      vllm serve org/name --port $SERVER_PORT
      --kv-transfer-config
      '{"a": 1}'
  - server_cmd: vllm serve org/name --headless
)") == "org/name --port 8080 --kv-transfer-config {\"a\": 1} | ? x?\n"
       "org/name --headless | ? x?\n");
  CHECK(starts_of(R"(
model_name: org/name
serve: {tensor_parallel_size: 2, trust_remote_code: false}
tasks: []
# vllm
)") == "model=org/name tensor_parallel_size=2 trust_remote_code=false | ? x?\n");
}

TEST_CASE("the stacks of an llm-d-benchmark scenario are engines") {
  CHECK(starts_of(R"(
scenario:
  - name: s
    common:
      multinode: {enabled: true}
      model: {name: org/vllm, path: models/org/vllm, maxModelLen: 4096, gpuMemoryUtilization: 0.8}
      affinity: {enabled: true, nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}}
      vllmCommon: {flags: {enforceEager: true, noPrefixCaching: false}}
    standalone: {enabled: false, replicas: 1}
    modelservice:
      enabled: true
      decode:
        replicas: 1
        parallelism: {tensor: 2, dataLocal: 4, workers: 2}
        vllm:
          customCommand: |
            vllm serve /cache/$MODEL_PATH --max-model-len $VLLM_MAX_MODEL_LEN \
              --tensor-parallel-size $TP_SIZE --port $VLLM_METRICS_PORT
      prefill: {enabled: true, replicas: 2, vllm: {additionalFlags: ["--seed 1"]}}
)") == "/cache/models/org/vllm --max-model-len 4096 --tensor-parallel-size 2 --port "
       "?$VLLM_METRICS_PORT | nvidia-l4 x8 on 2 nodes, 1 replicas\n"
       "org/vllm --served-model-name org/vllm --max-model-len 4096 --gpu-memory-utilization 0.8 "
       "--enforce-eager --seed 1 | nvidia-l4 x?, 2 replicas\n");
}

TEST_CASE("pods of a scenario that differ leave a setting open") {
  CHECK(starts_of(R"(
scenario:
  - name: s
    common: {accelerator: {type: spyre}, model: {name: org/vllm}}
    modelservice:
      decode:
        vllmVariants: [{maxModelLen: 1024, maxNumSeq: 8}, {maxModelLen: 2048, maxNumSeq: 8}]
        vllm:
          customCommand: >-
            /opt/entrypoint.sh --model $MODEL_NAME --max-model-len $VLLM_MAX_MODEL_LEN
            --max-num-seqs $VLLM_MAX_NUM_SEQ
)") == "--model org/vllm --max-model-len ?$VLLM_MAX_MODEL_LEN --max-num-seqs 8 | ? x?\n");
}

TEST_CASE("serving tests are engines with their defaults, one a test") {
  const SourceFile file("serving-tests.json", R"({
  "defaults": {
    "server_environment_variables": {"VLLM_USE_V1": 1},
    "server_parameters": {"model": "org/name", "tensor_parallel_size": 1, "dtype": "bfloat16"}
  },
  "tests": [
    {"test_name": "plain", "client_parameters": {"model": "org/name", "num_prompts": 2}},
    {"test_name": "big", "server_parameters": {
        "model": "org/big", "tensor_parallel_size": 4, "no_enable_prefix_caching": "",
        "compilation_config": {"level": 3}}}
  ]
})");
  CHECK(summaries_of(file) ==
        "org/name --tensor-parallel-size 1 --dtype bfloat16\n"
        "org/big --tensor-parallel-size 4 --dtype bfloat16 --no-enable-prefix-caching "
        "--compilation-config {\"level\": 3}");
  const EngineStart start = read_file(file).starts.at(1);
  CHECK(start.name == "big");
  CHECK(env_of(start, "VLLM_USE_V1") == "1");
  CHECK(position_of(start, "org/big") == "9:19");
  CHECK(line_of(start.where) == 8);
  const SourceFile list("tests.json",
                        R"([{"test_name": "a", "server_parameters": {"model": "vllm/x"}}])");
  CHECK(summaries_of(list) == "vllm/x");
  for (const char* other : {R"({"tests": [{"test_name": "vllm"}]})", R"({"tests": ["vllm"]})",
                            R"([{"test_name": "vllm", "parameters": {"model": "m"}}])"}) {
    CHECK(read_file(SourceFile("t.json", other)).starts.empty());
  }
}

TEST_CASE("the variables of an llm-d-benchmark scenario are prefill and decode pods") {
  const SourceFile file("scenario.sh", R"(export LLMDBENCH_DEPLOY_MODEL_LIST="org/name"
export LLMDBENCH_VLLM_COMMON_AFFINITY=nvidia.com/gpu.product:NVIDIA-L4
export LLMDBENCH_VLLM_COMMON_MAX_MODEL_LEN=16000
export LLMDBENCH_VLLM_COMMON_ENVVARS_TO_YAML=$(mktemp)
cat << EOF > $LLMDBENCH_VLLM_COMMON_ENVVARS_TO_YAML
- name: VLLM_PORT
  value: "REPLACE_ENV_LLMDBENCH_NOT_SET"
- name: VLLM_USE_V1
  value: "1"
EOF
export LLMDBENCH_VLLM_MODELSERVICE_PREFILL_MODEL_COMMAND=vllmServe
export LLMDBENCH_VLLM_MODELSERVICE_PREFILL_TENSOR_PARALLELISM=2
export LLMDBENCH_VLLM_MODELSERVICE_PREFILL_REPLICAS=3
export LLMDBENCH_VLLM_MODELSERVICE_PREFILL_EXTRA_ARGS="[\
--max-model-len____REPLACE_ENV_LLMDBENCH_VLLM_COMMON_MAX_MODEL_LEN____\
--kv-transfer-config____'{\"kv_role\":\"kv_both\"}'____\
--enforce-eager\
]"
export LLMDBENCH_VLLM_MODELSERVICE_DECODE_MODEL_COMMAND=custom
export LLMDBENCH_VLLM_MODELSERVICE_DECODE_EXTRA_ARGS=$(mktemp)
cat << EOF > ${LLMDBENCH_VLLM_MODELSERVICE_DECODE_EXTRA_ARGS}
vllm serve /cache/REPLACE_ENV_LLMDBENCH_DEPLOY_CURRENT_MODEL \\
--port REPLACE_ENV_LLMDBENCH_NOT_SET \\
--max-model-len REPLACE_ENV_LLMDBENCH_VLLM_COMMON_MAX_MODEL_LEN \\
--tensor-parallel-size \$TP_SIZE
EOF
)");
  CHECK(summaries_of(file) ==
        "org/name --tensor-parallel-size 2 --served-model-name org/name --max-model-len 16000 "
        "--kv-transfer-config {\"kv_role\":\"kv_both\"} --enforce-eager; "
        "gpu 2 NVIDIA-L4 nvidia.com/gpu; replicas 3\n"
        "/cache/org/name --port ?${LLMDBENCH_NOT_SET} --max-model-len 16000 "
        "--tensor-parallel-size ?$TP_SIZE; gpu 1 NVIDIA-L4 nvidia.com/gpu");
  const EngineStart start = read_file(file).starts.at(0);
  CHECK(line_of(start.where) == 11);
  CHECK(position_of(start, "16000") == "3:44");
  CHECK(env_of(start, "VLLM_USE_V1") == "1");
  CHECK(env_of(start, "VLLM_PORT") == "?");
  CHECK(read_file(SourceFile("s.sh", "LLMDBENCH_DEPLOY_MODEL_LIST=vllm")).starts.empty());
}

TEST_CASE("references of a scenario that refer to each other end") {
  std::string script = "export LLMDBENCH_DEPLOY_MODEL_LIST=vllm/x\nexport A=\"";
  for (int i = 0; i < 20'000; ++i) script += "REPLACE_ENV_A____";
  script += "\"\nexport LLMDBENCH_VLLM_STANDALONE_ARGS=\"vllm serve m REPLACE_ENV_A\"\n";
  CHECK(read_file(SourceFile("s.sh", script)).starts.size() == 1);
}
