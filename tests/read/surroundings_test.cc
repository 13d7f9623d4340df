#include "lint/read/surroundings.h"

#include "lint/read/engine_start.h"
#include "lint/read/quantity.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

Surroundings around(const std::string& text) {
  const SourceFile file("deploy.yaml", text);
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  REQUIRE(contents.starts[0].around != nullptr);
  return *contents.starts[0].around;
}

const std::string kDeployment = R"yaml(
apiVersion: v1
kind: Service
metadata: {name: chat}
spec:
  type: LoadBalancer
  selector: {app: chat}
  ports: [{port: 80, targetPort: http}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 3
  strategy: {type: Recreate}
  template:
    metadata: {labels: {app: chat, tier: front}}
    spec:
      enableServiceLinks: false
      securityContext: {runAsUser: 1000}
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.19.0
          args: ["--model=org/name", "--tensor-parallel-size=2"]
          ports: [{name: http, containerPort: 8000}]
          startupProbe:
            httpGet: {path: /health, port: http}
            periodSeconds: 5
            failureThreshold: 60
          resources:
            limits: {nvidia.com/gpu: 2, memory: 64Gi, cpu: 500m}
          volumeMounts:
            - {name: shm, mountPath: /dev/shm}
            - {name: models, mountPath: /models, readOnly: true}
      volumes:
        - name: shm
          emptyDir: {medium: Memory, sizeLimit: 4Gi}
        - name: models
          persistentVolumeClaim: {claimName: models}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models}
spec: {resources: {requests: {storage: 200Gi}}}
)yaml";

constexpr uint64_t kGi = uint64_t{1} << 30U;

}  // namespace

TEST_CASE("a pod's container is described with its volumes, limits and probes") {
  const Surroundings s = around(kDeployment);
  CHECK(s.kubernetes);
  REQUIRE(s.startup.has_value());
  CHECK(s.startup->allowed_seconds() == 300);
  CHECK(s.startup->port->value == "http");
  CHECK_FALSE(s.liveness.has_value());
  CHECK(s.memory_limit_bytes->value == 64 * kGi);
  CHECK(s.cpu_limit->value == 0.5);
  CHECK(s.gpu_quantity->value == "2");
  CHECK(s.gpu_in_limits);
  REQUIRE(s.mounts.size() == 2);
  CHECK(s.mounts[0].kind == Mount::Kind::kMemory);
  CHECK(s.mounts[0].size_bytes->value == 4 * kGi);
  CHECK(s.mounts[1].kind == Mount::Kind::kClaim);
  CHECK(s.mounts[1].read_only);
  CHECK(s.mounts[1].size_bytes->value == 200 * kGi);
  CHECK(s.run_as_user->value == 1000);
  CHECK(s.ports.at(0).number == "8000");
}

TEST_CASE("a workload is described with its Services and its strategy") {
  const Surroundings s = around(kDeployment);
  CHECK(s.services.at(0).value == "chat");
  CHECK(s.target_ports.at(0).number == "http");
  CHECK(s.exposures.at(0).how == "Service chat of type LoadBalancer");
  CHECK_FALSE(s.service_links);
  CHECK(s.deployment);
  CHECK(s.recreates);
}

TEST_CASE("a pod is whole only where nothing else adds to it") {
  CHECK(around(kDeployment).whole);
  CHECK(around(kDeployment).controlled);
  CHECK(around(kDeployment).workload == "Deployment");
  const auto whole_with = [](const std::string& from, const std::string& to) {
    std::string text = kDeployment;
    text.replace(text.find(from), from.size(), to);
    return around(text).whole;
  };
  CHECK_FALSE(whole_with("kind: Deployment", "kind: StormService"));
  CHECK_FALSE(whole_with("replicas: 3", "replicas: {{ .Values.replicas }}"));
  CHECK_FALSE(whole_with("          image: vllm/vllm-openai:v0.19.0\n", ""));
}

TEST_CASE("Services count where the pod hears of them or is reached by them") {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kDeployment;
    text.replace(text.find(from), from.size(), to);
    return around(text);
  };
  CHECK(with("type: LoadBalancer", "clusterIP: None").services.empty());
  CHECK(with("type: LoadBalancer", "type: ClusterIP").exposures.empty());
  CHECK(
      with("metadata: {name: chat}",
           "metadata: {name: chat, annotations: {networking.gke.io/load-balancer-type: Internal}}")
          .exposures.empty());
  const Surroundings behind = around(kDeployment + R"yaml(
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: front}
spec:
  rules:
    - http: {paths: [{path: /, backend: {service: {name: chat, port: {number: 80}}}}]}
)yaml");
  REQUIRE(behind.exposures.size() == 2);
  CHECK(behind.exposures[1].how == "Ingress front");
}

TEST_CASE("ports that a container beside the engine's may listen on are not known") {
  const std::string beside = "        - name: vllm\n";
  std::string text = kDeployment;
  text.replace(text.find(beside), beside.size(),
               "        - {name: proxy, image: proxy}\n" + beside);
  CHECK(around(text).undeclared_ports);
  CHECK_FALSE(around(kDeployment).undeclared_ports);
}

TEST_CASE("a Compose service is described by the same words") {
  const Surroundings s = around(R"yaml(
services:
  chat:
    image: vllm/vllm-openai:v0.19.0
    command: ["--model=org/name"]
    shm_size: 2gb
    ipc: host
    user: "1000"
    ports: ["8000:8000", "127.0.0.1:8001:8001"]
    volumes: ["${CACHE:-/data}/hub:/root/.cache/huggingface:ro", "models:/models"]
    depends_on: {embed: {condition: service_healthy}}
    deploy:
      resources:
        limits: {memory: 32g}
        reservations: {devices: [{driver: nvidia, device_ids: ["0", "3"], capabilities: [gpu]}]}
)yaml");
  CHECK(s.compose);
  CHECK(s.shm_bytes->value == 2 * kGi);
  CHECK(s.host_ipc);
  CHECK(s.run_as_user->value == 1000);
  CHECK(s.exposures.size() == 1);
  REQUIRE(s.mounts.size() == 2);
  CHECK(s.mounts[0].path == "/root/.cache/huggingface");
  CHECK(s.mounts[0].kind == Mount::Kind::kHostPath);
  CHECK(s.mounts[0].read_only);
  CHECK(s.mounts[1].kind == Mount::Kind::kClaim);
  CHECK(s.starts_after_healthy == std::vector<std::string>{"embed"});
  CHECK(s.memory_limit_bytes->value == 32 * kGi);
  CHECK(s.gpu_devices == std::vector<std::string>{"0", "3"});
}

TEST_CASE("a published port is open unless its address is this machine's") {
  const auto open = [](const std::string& port) {
    return !around(
                "services:\n  chat:\n    image: vllm/vllm-openai:v0.19.0\n"
                "    command: [\"--model=org/name\"]\n    ports:\n      - " +
                port + "\n")
                .exposures.empty();
  };
  CHECK(open("8000:8000"));
  CHECK(open("\"${PORT}:8000\""));
  CHECK(open("\"${BIND:-0.0.0.0}:8000:8000\""));
  CHECK(open("{target: 8000, published: 8000}"));
  CHECK_FALSE(open("\"${BIND:-127.0.0.1}:8000:8000\""));
  CHECK_FALSE(open("\"${BIND}:8000:8000\""));
  CHECK_FALSE(open("{target: 8000, published: 8000, host_ip: 127.0.0.1}"));
}

TEST_CASE("docker run is described by the same words") {
  const SourceFile file("run.sh",
                        "docker run --gpus all --shm-size 2g -m 32g --cpus=6 -u 1000:1000 "
                        "-v ~/hub:/root/.cache/huggingface --mount type=tmpfs,target=/cache "
                        "vllm/vllm-openai:v0.19.0 --model org/name\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  REQUIRE(contents.starts[0].around != nullptr);
  const Surroundings& s = *contents.starts[0].around;
  CHECK(s.whole);
  CHECK_FALSE(s.controlled);
  CHECK_FALSE(s.host_ipc);
  CHECK(s.shm_bytes->value == 2 * kGi);
  CHECK(s.memory_limit_bytes->value == 32 * kGi);
  CHECK(s.cpu_limit->value == 6.0);
  CHECK(s.run_as_user->value == 1000);
  REQUIRE(s.mounts.size() == 2);
  CHECK(s.mounts[0].path == "/root/.cache/huggingface");
  CHECK(s.mounts[1].kind == Mount::Kind::kMemory);
  const SourceFile open("run.sh", "docker run $FLAGS vllm/vllm-openai:v0.19.0 --model org/name\n");
  CHECK_FALSE(read_file(open).starts.at(0).around->whole);
}

TEST_CASE("amounts are read with their suffixes") {
  CHECK(parse_quantity("500m") == 0.5);
  CHECK(parse_quantity("1e3") == 1000.0);
  CHECK(parse_quantity("2Gi") == 2147483648.0);
  CHECK_FALSE(parse_quantity("-1").has_value());
  CHECK_FALSE(parse_quantity("2GiB").has_value());
  CHECK_FALSE(parse_quantity("").has_value());
  CHECK(parse_compose_bytes("64MB") == uint64_t{64} << 20U);
  CHECK_FALSE(parse_compose_bytes("1 gb").has_value());
}
