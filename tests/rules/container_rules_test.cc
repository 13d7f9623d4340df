// Rules about containers: what makes each speak, and what keeps it silent.

#include <algorithm>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

using namespace kvbudget;

namespace {

// A service that no rule has anything to say about.
const std::string kService = R"yaml(
apiVersion: v1
kind: Service
metadata: {name: chat}
spec:
  type: ClusterIP
  selector: {app: chat}
  ports: [{port: 80, targetPort: 8000}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: hub}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 60Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.19.0
          args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
          env: []
          resources: {limits: {nvidia.com/gpu: 1, cpu: 8, memory: 40Gi}}
          startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 10, failureThreshold: 60}
          readinessProbe: {httpGet: {path: /health, port: 8000}}
          volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]
      volumes: [{name: hub, persistentVolumeClaim: {claimName: hub}}]
)yaml";

struct Change {
  const char* what;
  std::string from;
  std::string to;
  std::string rule;  ///< that then speaks; empty: none
};

std::string changed(std::string text, const Change& change) {
  const size_t at = text.find(change.from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, change.from.size(), change.to);
}

void check(const std::string& file, const std::string& text, const Change& change) {
  std::set<std::string> rules;
  for (const auto& [line, rule] : test::found(file, text)) {
    if (rule != "KVB001") rules.insert(rule);
  }
  std::string got;
  for (const std::string& rule : rules) got += (got.empty() ? "" : " ") + rule;
  INFO(change.what);
  CHECK(got == change.rule);
}

void check(const Change& change) { check("deploy.yaml", changed(kService, change), change); }

const std::string kGpus = "limits: {nvidia.com/gpu: 1, cpu: 8, memory: 40Gi}";
const std::string kStartup =
    "startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 10, failureThreshold: 60}";
const std::string kArgs = "\"--max-model-len=8192\"]";
const std::string kMount = "volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]";
const std::string kVolume = "persistentVolumeClaim: {claimName: hub}";

}  // namespace

TEST_CASE("a service without a mistake is silent") {
  CHECK(test::found("deploy.yaml", kService).empty());
}

TEST_CASE("probes are judged by the time they allow and by their patience") {
  const Change changes[] = {
      {"100 s are less than a compiling start takes", "failureThreshold: 60",
       "failureThreshold: 10", "KVB501"},
      {"no weights of 14 GiB load in 40 s", "failureThreshold: 60", "failureThreshold: 4",
       "KVB501"},
      {"130 s are just enough", "failureThreshold: 60}", "failureThreshold: 13}", ""},
      {"a liveness probe behind a start probe has its own time", kStartup,
       kStartup + "\n          livenessProbe: {httpGet: {path: /health, port: 8000}}", ""},
      {"one failure is no patience", kStartup,
       kStartup + "\n          livenessProbe: {httpGet: {path: /health, port: 8000}, "
                  "failureThreshold: 1}",
       "KVB501"},
  };
  for (const Change& change : changes) check(change);
  const std::string unprobed = changed(kService, {"", kStartup, "stdin: false", ""});
  check("d.yaml", unprobed, {"a readiness probe keeps requests away", "", "", ""});
  check("d.yaml",
        changed(unprobed,
                {"", "readinessProbe: {httpGet: {path: /health, port: 8000}}", "tty: false", ""}),
        {"requests to engines that load", "", "", "KVB501"});
}

TEST_CASE("ranks need shared memory unless it is there or somebody else adds it") {
  const std::string two = "\"--max-model-len=8192\", \"--tensor-parallel-size=2\"]";
  Change change{"two ranks", kArgs, two, "KVB502"};
  const std::string text = changed(changed(kService, change),
                                   {"two GPUs", "nvidia.com/gpu: 1", "nvidia.com/gpu: 2", ""});
  check("deploy.yaml", text, change);
  const Change kept[] = {
      {"the host's", "      containers:", "      hostIPC: true\n      containers:", ""},
      {"a host path", kMount + "\n      volumes: [{name: hub, " + kVolume + "}]",
       "volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}, {name: shm, mountPath: "
       "/dev/shm}]\n      volumes: [{name: hub, " +
           kVolume + "}, {name: shm, hostPath: {path: /dev/shm}}]",
       ""},
      {"a small volume", kMount + "\n      volumes: [{name: hub, " + kVolume + "}]",
       "volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}, {name: shm, mountPath: "
       "/dev/shm}]\n      volumes: [{name: hub, " +
           kVolume + "}, {name: shm, emptyDir: {medium: Memory, sizeLimit: 256Mi}}]",
       "KVB502"},
      {"an operator's pod", "kind: Deployment", "kind: StormService", ""},
      {"a template", "name: chat}\nspec:\n  replicas: 1",
       "name: chat}\nspec:\n  replicas: {{ .Values.replicas }}", ""},
  };
  for (const Change& more : kept) check("deploy.yaml", changed(text, more), more);
}

TEST_CASE("host memory and cores are compared with the engine's processes") {
  const Change changes[] = {
      {"less than any engine", "memory: 40Gi", "memory: 4Gi", "KVB503"},
      {"less than usual", "memory: 40Gi", "memory: 6Gi", "KVB503"},
      {"an offload pool above the limit", kArgs,
       "\"--max-model-len=8192\", \"--kv-offloading-size=64\"]", "KVB504"},
      {"an offload pool that fits", kArgs, "\"--max-model-len=8192\", \"--kv-offloading-size=16\"]",
       ""},
      {"LMCache's pool", "env: []", "env: [{name: LMCACHE_MAX_LOCAL_CPU_SIZE, value: \"60\"}]",
       "KVB504"},
      {"two cores", "cpu: 8", "cpu: 2", "KVB510"},
      {"six are enough for one GPU", "cpu: 8", "cpu: 6", ""},
      {"the engine before V1 polls less", "v0.19.0", "v0.6.6", ""},
  };
  for (const Change& change : changes) check(change);
}

TEST_CASE("images are compared with cards, drivers and devices") {
  const Change changes[] = {
      {"driver too old", "{cloud.google.com/gke-accelerator: nvidia-l4}",
       "{cloud.google.com/gke-accelerator: nvidia-l4, nvidia.com/cuda.driver.major: \"535\"}", ""},
      {"AMD's device", kGpus, "limits: {amd.com/gpu: 1, cpu: 8, memory: 40Gi}", "KVB505"},
      {"no tag", "vllm-openai:v0.19.0", "vllm-openai", "KVB507"},
      {"a branch", "vllm-openai:v0.19.0", "vllm-openai:nightly", "KVB507"},
      {"one nightly build", "vllm-openai:v0.19.0",
       "vllm-openai:nightly-0123456789abcdef0123456789abcdef01234567", ""},
      {"a digest", "vllm-openai:v0.19.0", "vllm-openai:latest@sha256:0123456789abcdef", ""},
  };
  for (const Change& change : changes) check(change);
  const std::string newer =
      changed(kService, {"", "vllm-openai:v0.19.0", "vllm-openai:v0.20.0", ""});
  const Change later[] = {
      {"driver too old", "{cloud.google.com/gke-accelerator: nvidia-l4}",
       "{cloud.google.com/gke-accelerator: nvidia-l4, nvidia.com/cuda.driver.major: \"535\"}",
       "KVB505"},
      {"driver new enough", "{cloud.google.com/gke-accelerator: nvidia-l4}",
       "{cloud.google.com/gke-accelerator: nvidia-l4, nvidia.com/cuda.driver.major: \"580\"}", ""},
  };
  for (const Change& change : later) check("deploy.yaml", changed(newer, change), change);
}

TEST_CASE("a Service is named when its variables are the engine's") {
  const auto named = [](const std::string& name, const std::string& more) {
    return changed(kService, {"", "metadata: {name: chat}\nspec:\n  type: ClusterIP",
                              "metadata: {name: " + name + "}\nspec:\n  " + more, ""});
  };
  check("d.yaml", named("vllm", "type: ClusterIP"), {"its port", "", "", "KVB506"});
  check("d.yaml", named("vllm-dp-master", "type: ClusterIP"), {"another port", "", "", "KVB506"});
  check("d.yaml", named("vllm-chat", "type: ClusterIP"), {"a variable of nobody", "", "", ""});
  check("d.yaml", named("vllm", "clusterIP: None"), {"no address, no variable", "", "", ""});
  const std::string off =
      changed(named("vllm", "type: ClusterIP"),
              {"", "      containers:", "      enableServiceLinks: false\n      containers:", ""});
  check("d.yaml", off, {"links are off", "", "", ""});
}

TEST_CASE("downloads need a place that lasts and is large enough") {
  const Change changes[] = {
      {"nowhere", kMount, "stdin: false", "KVB508"},
      {"elsewhere", "mountPath: /root/.cache/huggingface", "mountPath: /data", "KVB508"},
      {"where HF_HOME leads", "env: []", "env: [{name: HF_HOME, value: /data}]", "KVB508"},
      {"an emptyDir", kVolume, "emptyDir: {}", "KVB508"},
      {"an emptyDir with room", kVolume, "emptyDir: {sizeLimit: 60Gi}", ""},
      {"a claim without room", "storage: 60Gi", "storage: 10Gi", "KVB508"},
      {"a claim of one node for one pod", "ReadWriteMany", "ReadWriteOnce", "KVB513"},
      {"a local model", "Qwen/Qwen2.5-7B-Instruct", "/models/qwen", ""},
  };
  for (const Change& change : changes) check(change);
}

TEST_CASE("users that the image does not know need a home") {
  const std::string before = "      containers:";
  const auto as = [&](const std::string& context, const std::string& env) {
    std::string text =
        changed(kService, {"", before, "      securityContext: " + context + "\n" + before, ""});
    text = changed(text, {"", "/root/.cache/huggingface", "/data", ""});
    return changed(text, {"", "env: []", "env: [" + env + "]", ""});
  };
  const std::string hub = "{name: HF_HUB_CACHE, value: /data}";
  check("d.yaml", as("{runAsUser: 1001}", hub), {"no home", "", "", "KVB509"});
  check("d.yaml", as("{runAsNonRoot: true}", hub), {"root is refused", "", "", "KVB509"});
  check("d.yaml", as("{runAsUser: 0}", hub), {"root has one", "", "", ""});
  check("d.yaml", as("{runAsUser: 1001}", hub + ", {name: HOME, value: /tmp}"),
        {"a home", "", "", ""});
  check("d.yaml", as("{runAsUser: 1001}", hub + ", {name: HF_HOME, value: /data}"),
        {"one cache on a volume", "", "", ""});
}

TEST_CASE("GPUs must be granted in a way that Kubernetes takes") {
  const Change changes[] = {
      {"requests alone", kGpus, "requests: {nvidia.com/gpu: 1}", "KVB511"},
      {"a half", kGpus, "limits: {nvidia.com/gpu: 0.5}", "KVB511"},
      {"none", kGpus, "limits: {memory: 40Gi}", "KVB511"},
      {"by a runtime class",
       "      containers:", "      runtimeClassName: nvidia\n      containers:", ""},
      {"a number from outside", kGpus, "limits: {nvidia.com/gpu: \"${GPUS}\"}", ""},
  };
  for (const Change& change : changes) check(change);
}

TEST_CASE("replicas of a Compose service share what one of them is given") {
  const std::string text = R"yaml(
services:
  chat:
    image: vllm/vllm-openai:v0.19.0
    command: ["--model=Qwen/Qwen2.5-1.5B-Instruct", "--max-model-len=8192"]
    volumes: ["hub:/root/.cache/huggingface"]
    deploy:
      replicas: 2
      resources: {reservations: {devices: [{driver: nvidia, count: 1, capabilities: [gpu]}]}}
volumes: {hub: {}}
)yaml";
  check("compose.yaml", text, {"the first GPU", "", "", "KVB512"});
  check("compose.yaml", changed(text, {"", "replicas: 2", "replicas: 1", ""}),
        {"one replica", "", "", ""});
}

TEST_CASE("updates that cannot make room are named") {
  const auto strategy = [](const std::string& text) {
    return changed(kService, {"", "replicas: 1\n", "replicas: 1\n  strategy: " + text + "\n", ""});
  };
  check("d.yaml", strategy("{rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"),
        {"a surge", "", "", "KVB513"});
  check("d.yaml", strategy("{rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}"),
        {"the old one may go first", "", "", ""});
  check("d.yaml", strategy("{rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"),
        {"no surge", "", "", ""});
  check("d.yaml", strategy("{rollingUpdate: {maxSurge: 25%}}"),
        {"a quarter of one is none", "", "", "KVB513"});
}

TEST_CASE("ports of probes and Services lead to a listener") {
  const std::string beside =
      "        - {name: proxy, image: proxy, ports: [{containerPort: 9000}]}\n";
  const Change changes[] = {
      {"a Service past the engine", "targetPort: 8000", "targetPort: 8080", "KVB514"},
      {"a name that nobody declares", "targetPort: 8000", "targetPort: http", "KVB514"},
      {"the engine elsewhere", kArgs, "\"--max-model-len=8192\", \"--port=8001\"]", "KVB514"},
      {"a declared port without a listener", "targetPort: 8000",
       "targetPort: 8080}, {port: 81, targetPort: 8081", "KVB514"},
  };
  for (const Change& change : changes) check(change);
  const std::string two =
      changed(kService, {"", "        - name: vllm\n", beside + "        - name: vllm\n", ""});
  check("d.yaml", changed(two, {"", "targetPort: 8000", "targetPort: 9000", ""}),
        {"a side-car", "", "", ""});
  const std::string silent =
      changed(kService, {"", "        - name: vllm\n",
                         "        - {name: proxy, image: proxy}\n        - name: vllm\n", ""});
  check("d.yaml", changed(silent, {"", "targetPort: 8000", "targetPort: 9000", ""}),
        {"a side-car that declares nothing", "", "", ""});
}

TEST_CASE("servers that strangers reach have a key") {
  const std::string open = changed(kService, {"", "type: ClusterIP", "type: LoadBalancer", ""});
  check("d.yaml", open, {"open", "", "", "KVB701"});
  const auto with = [&](const std::string& env) {
    return changed(open, {"", "env: []", "env: [" + env + "]", ""});
  };
  const std::string key = "{name: VLLM_API_KEY, valueFrom: {secretKeyRef: {name: a, key: b}}}";
  check("d.yaml", with(key), {"a key covers part", "", "", "KVB702"});
  check("d.yaml", with(key + ", {name: VLLM_SERVER_DEV_MODE, value: \"1\"}"),
        {"development", "", "", "KVB702"});
  check("d.yaml", changed(open, {"", "env: []", "envFrom: [{secretRef: {name: keys}}]", ""}),
        {"perhaps a key", "", "", ""});
  check("d.yaml", changed(open, {"", kArgs, "\"--max-model-len=8192\", \"--host=127.0.0.1\"]", ""}),
        {"listens to itself", "", "", ""});
}

TEST_CASE("secrets and unpinned code are named, placeholders are not") {
  const Change changes[] = {
      {"a token", "env: []", "env: [{name: HF_TOKEN, value: hf_abcDEF123}]", "KVB704"},
      {"a token under another name", "env: []", "env: [{name: TOKEN, value: hf_abcDEF123}]",
       "KVB704"},
      {"a placeholder", "env: []", "env: [{name: HF_TOKEN, value: \"<your token>\"}]", ""},
      {"a variable", "env: []", "env: [{name: HF_TOKEN, value: \"${HF_TOKEN}\"}]", ""},
      {"a key", kArgs, "\"--max-model-len=8192\", \"--api-key=sk-12345\"]", "KVB704"},
      {"code", kArgs, "\"--max-model-len=8192\", \"--trust-remote-code\"]", "KVB703"},
      {"pinned code", kArgs,
       "\"--max-model-len=8192\", \"--trust-remote-code\", \"--revision=0123abc\"]", ""},
  };
  for (const Change& change : changes) check(change);
}
