#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

/// A Deployment whose only container holds `body`.
std::string deployment(const std::string& body, const std::string& pod = "") {
  std::string text =
      "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: llm\nspec:\n  template:\n"
      "    spec:\n" +
      pod + "      containers:\n      - name: engine\n";
  for (size_t begin = 0; begin < body.size();) {
    const size_t end = std::min(body.find('\n', begin), body.size());
    text += "        " + body.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

EngineStart only_start(const SourceFile& file) {
  FileContents contents = read_file(file);
  REQUIRE(contents.errors.empty());
  REQUIRE(contents.starts.size() == 1);
  CHECK(contents.starts[0].file == &file);
  CHECK(contents.starts[0].kind == "kubernetes");
  return contents.starts[0];
}

struct Case {
  const char* container;
  const char* words;
  const char* place;
};

}  // namespace

TEST_CASE("a container's command and arguments give the engine") {
  const Case cases[] = {
      {"image: vllm/vllm-openai:v0.10.0\nargs: [--model, m]", "--model m", "--model"},
      {"image: vllm/vllm-openai\nargs: [vllm, serve, m]", "m", "vllm, serve"},
      {"image: vllm/vllm-openai", "", "vllm/vllm-openai"},
      {"image: x\ncommand: [vllm, serve]\nargs:\n- m\n- --port=1", "m --port=1", "vllm, serve"},
      {"image: x\ncommand: [python3, -m, vllm.entrypoints.openai.api_server]\nargs: [--model=m]",
       "--model=m", "python3, -m, vllm.entrypoints.openai.api_server"},
      {"image: x\ncommand: [/bin/sh, -c]\nargs:\n- |\n  # why\n  exec vllm serve m \\\n    --port "
       "1",
       "m --port 1", "vllm serve"},
      {"image: x\ncommand:\n- bash\n- -c\n- >-\n  vllm serve m\n  --port 1\n", "m --port 1",
       "vllm serve"},
      {"image: custom\nargs: [--model, m, --max-model-len, '1']", "--model m --max-model-len 1",
       "--model"},
      {"image: vllm/vllm-openai\nenv:\n- {name: M, value: org/name}\nargs: [--model=$(M)]",
       "--model=org/name", "--model=$(M)\n"},
      {"image: vllm/vllm-openai\nargs: [--model=$(M), --port=$$(P)]", "?--model=$(M) --port=$(P)",
       "--model=$(M)"},
      {"image: vllm/vllm-openai\nargs: ['--model=${M}', '--x={{ .y }}']",
       "?--model=${M} ?--x={{ .y }}", "--model=${M}"},
      {"image: x\nenv:\n- {name: TP, value: '4'}\ncommand: [sh, -c, 'vllm serve m -tp $TP']",
       "m -tp 4", "vllm serve"},
  };
  for (const Case& item : cases) {
    INFO(item.container);
    const SourceFile file("f.yaml", deployment(item.container));
    const EngineStart start = only_start(file);
    CHECK(words_of(start) == item.words);
    CHECK(start.name == "Deployment/llm/engine");
    if (std::string(item.place).back() != '\n') CHECK(place_of(start) == item.place);
  }
}

TEST_CASE("containers that start no engine give nothing") {
  for (const char* container :
       {"image: vllm/vllm-openai\ncommand: [sleep, infinity]", "image: nginx",
        "image: x\ncommand: [vllm, bench, serve]", "image: proxy\nargs: [--port=1, --vllm-port=2]",
        "image: lmcache/router\nargs: [--model, m, --port, '1']",
        "image: x\ncommand: [sh, -c, 'ray start --block # vllm']"}) {
    INFO(container);
    const SourceFile file("f.yaml", deployment(container));
    CHECK(read_file(file).starts.empty());
  }
}

TEST_CASE("environment comes from values and from ConfigMaps of the file") {
  const SourceFile file(
      "f.yaml",
      deployment(R"(image: vllm/vllm-openai
envFrom:
- configMapRef: {name: settings}
- secretRef: {name: other}
env:
- {name: A, value: '1'}
- {name: B, value: 'x-$(A)'}
- name: C
  valueFrom: {secretKeyRef: {name: s, key: k}}
- name: D
  valueFrom: {configMapKeyRef: {name: settings, key: VLLM_X}}
- {name: E, value: $HF_TOKEN}
- name: F)") +
          "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {VLLM_X: y}\n");
  const EngineStart start = only_start(file);
  CHECK(env_of(start, "A") == "1");
  CHECK(env_of(start, "B") == "x-1");
  CHECK(env_of(start, "C") == "?");
  CHECK(env_of(start, "D") == "y");
  CHECK(env_of(start, "E") == "?");
  CHECK(env_of(start, "F") == "");
  CHECK(env_of(start, "VLLM_X") == "y");
}

TEST_CASE("GPUs are counted by the resource and named by the node selection") {
  struct Request {
    const char* container;
    const char* pod;
    uint32_t count;
    const char* resource;
    const char* name;
  };
  const Request cases[] = {
      {"resources: {limits: {nvidia.com/gpu: '2'}}", "", 2, "nvidia.com/gpu", ""},
      {"resources: {requests: {nvidia.com/gpu : 1}}",
       "      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}\n", 1, "nvidia.com/gpu",
       "nvidia-l4"},
      {"resources: {limits: {nvidia.com/mig-1g.10gb: 1}}", "", 1, "nvidia.com/mig-1g.10gb", ""},
      {"resources: {limits: {amd.com/gpu: 8, cpu: 1}}",
       "      nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge, "
       "nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}\n",
       8, "amd.com/gpu", "NVIDIA-H100-80GB-HBM3"},
      {"resources: {limits: {nvidia.com/gpu: '${TP}'}}",
       "      nodeSelector: {nvidia.com/gpu.product: '${GPU}'}\n", 0, "nvidia.com/gpu", ""},
      {"resources: {limits: {cpu: 1}}",
       "      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
       "{nodeSelectorTerms: [{matchExpressions: [{key: gpu.nvidia.com/class, operator: In, "
       "values: [H100_NVLINK_80GB]}]}]}}}\n",
       0, "", "H100_NVLINK_80GB"},
      {"resources: {}",
       "      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
       "{nodeSelectorTerms: [{matchExpressions: [{key: gpu.nvidia.com/class, operator: In, "
       "values: [A, B]}]}]}}}\n",
       0, "", ""},
  };
  for (const Request& item : cases) {
    INFO(item.container << item.pod);
    const SourceFile file(
        "f.yaml", deployment("image: vllm/vllm-openai\n" + std::string(item.container), item.pod));
    const EngineStart start = only_start(file);
    CHECK((start.gpu.count ? start.gpu.count->value : 0) == item.count);
    CHECK(start.gpu.resource == item.resource);
    CHECK((start.gpu.name ? start.gpu.name->value : "") == item.name);
  }
}

TEST_CASE("every kind of workload leads to its pods") {
  const std::string pod = "{containers: [{name: c, image: vllm/vllm-openai, args: [m]}]}";
  struct Kind {
    std::string yaml;
    const char* name;
  };
  const Kind cases[] = {
      {"kind: Pod\nspec: " + pod, "Pod/x/c"},
      {"kind: StatefulSet\nspec: {replicas: 1, template: {spec: " + pod + "}}", "StatefulSet/x/c"},
      {"kind: Job\nspec: {template: {spec: " + pod + "}}", "Job/x/c"},
      {"kind: CronJob\nspec: {jobTemplate: {spec: {template: {spec: " + pod + "}}}}",
       "CronJob/x/c"},
      {"kind: LeaderWorkerSet\nspec: {leaderWorkerTemplate: {size: 2, leaderTemplate: {spec: " +
           pod + "}}}",
       "LeaderWorkerSet/x/leader/c"},
      {"kind: StormService\nspec: {template: {spec: {roles: [{name: prefill, template: {spec: " +
           pod + "}}]}}}",
       "StormService/x/prefill/c"},
  };
  for (const Kind& item : cases) {
    INFO(item.yaml);
    const SourceFile file("f.yaml", "apiVersion: v1\nmetadata: {name: x}\n" + item.yaml + "\n");
    CHECK(only_start(file).name == item.name);
  }
  const SourceFile list("f.yaml",
                        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, "
                        "metadata: {name: x}, spec: " +
                            pod + "}\n");
  CHECK(only_start(list).name == "Pod/x/c");
}

TEST_CASE("replicas, group size and probes are taken along") {
  const SourceFile file("f.yaml", R"(apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: x}
spec:
  replicas: 3
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        containers:
        - {name: c, image: "vllm/vllm-openai:{{ .tag }}", args: [m]}
)");
  const EngineStart start = only_start(file);
  CHECK(start.replicas->value == 3);
  CHECK(start.nodes->value == 2);
  CHECK(start.serves_traffic);
  CHECK_FALSE(start.image_known);
  const SourceFile probed("f.yaml", deployment("image: vllm/vllm-openai\nreadinessProbe: {x: 1}"));
  CHECK(only_start(probed).serves_traffic);
  const SourceFile alone("f.yaml", deployment("image: vllm/vllm-openai"));
  CHECK_FALSE(only_start(alone).serves_traffic);
}

TEST_CASE("a broken document does not hide the engine beside it") {
  const SourceFile file("f.yaml", "a: [\n---\n" + deployment("image: vllm/vllm-openai"));
  const FileContents contents = read_file(file);
  CHECK(contents.starts.size() == 1);
  REQUIRE(contents.errors.size() == 1);
  CHECK(file.position(contents.errors[0].where.range.begin) == Position{1, 4});
}

TEST_CASE("what stands in a condition of a template is not known") {
  const SourceFile file("f.yaml",
                        "{{- if .Values.enabled }}\n" + deployment(R"(image: vllm/vllm-openai
args:
- --model
- m
{{- if .Values.lora }}
- --enable-lora
{{- end }}
env:
{{- range .Values.env }}
- {name: A, value: "1"}
{{- end }}
- {name: B, value: "2"})") + "{{- end }}\n");
  const EngineStart start = only_start(file);
  CHECK(words_of(start) == "--model m ?--enable-lora");
  CHECK(env_of(start, "A") == "?");
  CHECK(env_of(start, "B") == "2");
}

TEST_CASE("several engines of one script have names of their own") {
  const SourceFile file("f.yaml",
                        deployment("image: x\ncommand: [sh, -c, 'vllm serve a || vllm serve b']"));
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 2);
  CHECK(contents.starts[0].name == "Deployment/llm/engine");
  CHECK(contents.starts[1].name == "Deployment/llm/engine #2");
}
