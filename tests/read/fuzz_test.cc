// Damaged files: the readers must neither crash (the sanitizers watch) nor lose track of places.

#include <array>
#include <cstdint>

#include "lint/read/engine_start.h"
#include "tests/read/word_places.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Sample {
  const char* path;
  std::string text;
};

std::array<Sample, 13> samples() {
  return {{
      {"deployment.yaml", R"x(apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, labels: {a: "b\tc"}}
spec:
  replicas: 2
  template:
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
      - name: a
        image: vllm/vllm-openai:v0.10.0
        args: ["--model=$(M)", '--max-model-len', "8192"]
        env: &env
        - {name: M, value: org/name}
      - name: b
        image: x
        command: [sh, -c]
        args:
        - |
          TP=${TP:-4}
          if [ -n "$X" ]; then
            exec vllm serve org/name -tp $TP \
              --speculative-config '{"method": "mtp"}'
          fi
        env: *env
---
{{- if .Values.x }}
a: {{ .y }}
{{- end }}
)x"},
      {"compose.yaml", R"x(x-base: &base
  image: ${I:-vllm/vllm-openai:v0.9.0}
services:
  chat:
    <<: *base
    command: >
      --model org/name
      --port ${P:-${Q:-80}} --x "a b"
    deploy: {resources: {reservations: {devices: [{count: 1, capabilities: [gpu]}]}}}
)x"},
      {"vllm.yaml", "model: org/name\nmax-model-len: 8_192\nspeculative-config: '{\"a\": 1}'\n"},
      {"run.sh", R"x(#!/bin/bash
ARGS=(--max-model-len 8192 # why
  --kv-cache-dtype "fp8")
case "$1" in a|b) M=x ;; *) M=y ;; esac
cat > f <<EOF
vllm serve nothing
EOF
CUDA_VISIBLE_DEVICES=0 vllm serve "${M:-z}" "${ARGS[@]}" --x=$(y) > log 2>&1 &
docker run --gpus '"device=0,1"' -e A=1 vllm/vllm-openai --model m
)x"},
      {"scenario.sh", R"x(export LLMDBENCH_DEPLOY_MODEL_LIST=org/name
export LLMDBENCH_VLLM_COMMON_AFFINITY=nvidia.com/gpu.product:NVIDIA-L4
export LLMDBENCH_VLLM_MODELSERVICE_DECODE_EXTRA_ARGS="[--a____REPLACE_ENV_LLMDBENCH_DEPLOY_MODEL_LIST____-b]"
export LLMDBENCH_VLLM_STANDALONE_ARGS=$(mktemp)
cat <<-EOF > $LLMDBENCH_VLLM_STANDALONE_ARGS
	vllm serve REPLACE_ENV_LLMDBENCH_DEPLOY_CURRENT_MODEL --port \$P
	EOF
A=(--x 1); if [[ ${B:-c} == [a-d]* && ! -z $Q ]]; then A+=(--y); elif [ 1 -lt 2 ]; then A="$A --z"; fi
case ${D,,} in x|y*) E=${M##*/} ;; esac
kubectl apply -f - <<EOF
{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"image": "vllm/vllm-openai", "args": ["--model", "$M"]}]}}
EOF
)x"},
      {"job.nomad", R"x(job "a" {
  group "g" {
    task "t" {
      config { image = "vllm/vllm-openai"
        args = ["--model", "${m}"] }
      env { A_B = "1" }
      resources { device "nvidia/gpu/T4" { count = 2 } }
    }
  }
}
resource "aws_ecs_task_definition" "x" { container_definitions = jsonencode([{ image = "vllm/vllm-openai", command = ["--model", "m"] }]) }
)x"},
      {"task.json",
       R"x({"containerDefinitions": [{"name": "a", "image": "vllm/vllm-openai:v1", "command": ["--model", "m"],
  "environment": [{"name": "A", "value": "1"}], "resourceRequirements": [{"type": "GPU", "value": "1"}]}],
 "defaults": {"server_parameters": {"model": "m", "tp": {"a": 1}}},
 "tests": [{"test_name": "t", "server_parameters": {"max_model_len": 1}}]}
)x"},
      {"pod.json", R"x({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [
  {"name": "c", "image": "vllm/vllm-openai", "args": ["--model", "org\/name", "\u00e9"]}]}}
)x"},
      {"values.yaml", R"x(servingEngineSpec:
  modelSpec:
  - {name: a, repository: vllm/vllm-openai, tag: v0.9.0, modelURL: org/name, requestGPU: 1}
  - modelURL: "org/{{ .x }}"
    vllmConfig: {maxModelLen: 4096, enablePrefixCaching: true, extraArgs: [--seed, '1']}
---
modelArtifacts: {name: org/name, uri: "hf://org/name"}
decode: {parallelism: {tensor: 2}, containers: [{modelCommand: vllmServe, args: [-x]}]}
---
image: {repository: vllm/vllm-openai, tag: v1}
model: {name: org/name}
vllm: {max_model_len: 4096, extraArgs: "--seed 1 'a b'", gpu: {count: 1, type: L4}}
---
catalog: {a: {engine: VLLM, url: "hf://org/name", resourceProfile: "nvidia-gpu-l4:1"}}
)x"},
      {"resources.yaml", R"x(apiVersion: kubeai.org/v1
kind: Model
metadata: {name: a}
spec: {engine: VLLM, url: 'hf://org/name?x', args: [--a=b], env: {A: b}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {inference_config.yaml: "vllm:\n  max-model-len: 1\n"}
---
apiVersion: kaito.sh/v1beta1
kind: Workspace
metadata: {name: w}
inference: {preset: {name: phi-4}, config: c}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
spec: {source: {helm: {parameters: [{name: 'vllm.model\.x.name', value: org/name}]}}}
)x"},
      {"main.tf", R"x(resource "a" "b" {
  values = [<<-EOT
    vllm:
      model: org/name
      maxModelLen: ${var.length}
  EOT
  ]
  user_data = <<EOF
#!/bin/bash
docker run vllm/vllm-openai --model m
EOF
}
resource "kubernetes_pod" "p" {
  spec {
    container {
      image = "vllm/vllm-openai"
      args  = ["--model", "a\n${f("}")}", true ? 1 : 2, { a = 1, "b" : [x] }]
    }
  }
}
)x"},
      {"graphs.yaml", R"x(kind: DynamoGraphDeployment
spec:
  envs: [{name: DYN_DEPLOYMENT_CONFIG, value: '{"B":{"model":"m","ServiceArgs":{"workers":1}}}'}]
  services:
    A:
      multinode: {nodeCount: 2}
      resources: {limits: {gpu: "4"}}
      extraPodSpec: {mainContainer: {command: [python3, -m, dynamo.vllm], args: [--model, m]}}
    BWorker: {extraPodSpec: {mainContainer: {image: i}}}
---
kind: RayService
spec:
  serveConfigV2: |
    applications:
    - import_path: app:app
      args: {llm_configs: [{model_loading_config: {model_id: m}, engine_kwargs: {a: [1, {b: c}]}}]}
    - import_path: app:app
      runtime_env: {env_vars: {M: "org/name"}}
  rayClusterConfig: {workerGroupSpecs: [{template: {spec: {containers: [{image: i}]}}}]}
---
kind: ConfigMap
data:
  app.py: |
    N: int = int(os.environ.get("N", '4'))  # vllm
    engine = AsyncEngineArgs(model=os.environ["M"], x=dict(a=[1, (2), {'b': N}]), y="""t""")
    app = A.bind(model=r"m", n=-1_0.5)
)x"},
      {"recipes.yaml",
       R"x(resources: {accelerators: {L4:1, A10G}, image_id: "docker:vllm/vllm-openai"}
envs: {M: org/name}
setup: pip install "vllm[a]==0.10.0"
run: vllm serve $M -tp $SKYPILOT_NUM_GPUS_PER_NODE
---
type: service
env: [M=m, T]
resources: {gpu: "nvidia:A100,H100:80GB:1..2"}
commands: [export X=1, vllm serve $M -tp $DSTACK_GPUS_NUM --seed $X]
---
meta: {}
model: {model_id: m, base_args: [--seed, "1"]}
features: {a: {default_mode: b, modes: {b: {args: [--x]}}}}
variants: {default: {tp: 2, supported_hardware: [mi300x]}}
---
backend: {vllm_config: {prefill: {block-size: 64}}}
resources: {gpus_per_node: 4, prefill_nodes: 2, prefill_workers: 1}
---
prefill: {tp: 1, extra-args: --a b, env: {A: b}}
---
m: {prefill_flags: "--max-num-seqs 8 'a b'", env: "A=1 B=2", hf_dir: models--org--name}
---
scenario: [{common: {model: {name: m, path: p}}, decode: {parallelism: {tensor: 2, dataLocal: 2},
  vllm: {customCommand: "vllm serve $MODEL_PATH -tp $TP_SIZE"}}, standalone: {enabled: true}}]
---
stages: [{stage_id: 0, devices: "0,1", max_model_len: 1, kv_cache_dtype: fp8}]
---
test_cases: [{model: m, server_cmd: [--port, $P, --seed, "1"], envs: {P: 1}}]
)x"},
  }};
}

void read_damaged(const char* path, std::string text) {
  const SourceFile file(path, std::move(text));
  const FileContents contents = read_file(file);
  const auto size = static_cast<uint32_t>(file.bytes().size());
  for (const SyntaxError& error : contents.errors) {
    REQUIRE(error.where.range.begin <= error.where.range.end);
    REQUIRE(error.where.range.end <= size);
  }
  for (const EngineStart& start : contents.starts) {
    REQUIRE(start.where.range.end <= size);
    REQUIRE(misplaced_word(start) == "");
    for (const ConfigKey& key : start.config) {
      REQUIRE(key.key.location().range.end <= size);
      REQUIRE(key.value->where.range.end <= size);
    }
  }
}

/// A small generator of our own, so that every run damages the same bytes (Marsaglia, xorshift32).
class Random {
 public:
  uint32_t below(size_t limit) {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 17U;
    state_ ^= state_ << 5U;
    return state_ % static_cast<uint32_t>(limit);
  }

 private:
  uint32_t state_ = 2463534242;
};

}  // namespace

TEST_CASE("the samples hold engines while they are whole") {
  for (const Sample& sample : samples()) {
    INFO(sample.path);
    const SourceFile file(sample.path, sample.text);
    CHECK_FALSE(read_file(file).starts.empty());
  }
}

TEST_CASE("a file that is cut off anywhere is read without losing track") {
  for (const Sample& sample : samples()) {
    const size_t step = std::max<size_t>(1, sample.text.size() / 200);
    for (size_t size = 0; size < sample.text.size(); size += step) {
      INFO(sample.path << " cut off at " << size);
      read_damaged(sample.path, sample.text.substr(0, size));
    }
  }
}

TEST_CASE("a file with flipped, lost and repeated bytes is read without losing track") {
  static constexpr std::string_view kMarks = "\n\t :-?,[]{}#&*!|>'\"%@`$\\();<=~\r\xFF";
  Random random;
  for (const Sample& sample : samples()) {
    for (int round = 0; round < 600; ++round) {
      std::string text = sample.text;
      for (uint32_t change = random.below(4) + 1; change > 0; --change) {
        const size_t at = random.below(text.size());
        switch (random.below(4)) {
          case 0:
            text[at] = static_cast<char>(random.below(256));
            break;
          case 1:
            text[at] = kMarks[random.below(kMarks.size())];
            break;
          case 2:
            text.erase(at, random.below(8) + 1);
            break;
          default:
            text.insert(at, text.substr(random.below(text.size()), random.below(12)));
            break;
        }
        if (text.empty()) text = "vllm";
      }
      INFO(sample.path << " round " << round << "\n" << text);
      read_damaged(sample.path, text);
    }
  }
}

TEST_CASE("the same damage to a script of one letter leads nowhere") {
  for (const char* part :
       {"[",    "{",     "- ",   "-\n",        "? ",     "?\n",      ":\n",   "a: |\n",
        "&a ",  "*a ",   "'",    "\"",         "{{",     "{% ",      "<<: ",  "!t ",
        "$(",   "${a:-", "if ",  "case a in ", "f() { ", "bash -c ", "eval ", "docker run ",
        "<<a ", "\\",    "a: [", "(",          "`"}) {
    std::string text = "# vllm\n";
    while (text.size() < 100'000) text += part;
    INFO(part);
    read_damaged("f.yaml", text);
    read_damaged("f.sh", text);
    read_damaged("f.json", text);
    read_damaged("f.tf", "x = <<E\n" + text);
  }
}
