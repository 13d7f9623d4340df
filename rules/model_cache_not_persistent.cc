#include <string>

#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

constexpr double kRoom = 1.2;  // beside the weights: other files, the download's own copies

std::string weights_text(uint64_t bytes) {
  return bytes == 0 ? "the weights" : memory::gib_text(bytes) + " of weights";
}

void report_too_small(const std::string& what, const Located<uint64_t>& room, uint64_t weights,
                      Reporter& reporter) {
  if (weights == 0) return;
  const bool fails = room.value < weights;
  if (!fails && static_cast<double>(room.value) >= kRoom * static_cast<double>(weights)) return;
  reporter.report(room.where,
                  weights_text(weights) + " are downloaded into " + what + " of " +
                      memory::gib_text(room.value),
                  fails ? Severity::kError : Severity::kWarning);
}

void report_lost(const Deployment& d, const Location& where, const std::string& place,
                 const Surroundings& around, uint64_t weights, Reporter& reporter) {
  const auto& limit = around.ephemeral_limit_bytes;
  if (limit && weights != 0 && limit->value < weights) {
    return report_too_small("ephemeral storage", *limit, weights, reporter);
  }
  Diagnostic& finding = reporter.report(
      where, weights_text(weights) + " are downloaded at every start into " + place);
  finding.notes.push_back({"mount a volume on " + download_folder(d), {}});
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = whole_container(d);
  if (around == nullptr || !is_service(d) || !is_official_cuda_image(d) || !is_downloaded(d)) {
    return;
  }
  const std::string folder = download_folder(d);
  if (folder.empty()) return;
  const uint64_t weights = checkpoint_bytes(d);
  const Mount* mount = mount_of(*around, folder);
  if (mount == nullptr) {
    const Location where = d.model_where ? d.model_where : d.start.where;
    return report_lost(d, where, folder + ", which goes with the container", *around, weights,
                       reporter);
  }
  const bool passing = mount->kind == Mount::Kind::kEmptyDir || mount->kind == Mount::Kind::kMemory;
  if (mount->size_bytes) {
    report_too_small(passing ? "a volume" : "a claim", *mount->size_bytes, weights, reporter);
  } else if (passing) {
    report_lost(d, mount->where, "an emptyDir, which goes with the pod", *around, weights,
                reporter);
  }
  const bool several = d.start.replicas && d.start.replicas->value > 1;
  if (mount->one_node && several && around->workload != "StatefulSet") {
    reporter.report(mount->where, std::to_string(d.start.replicas->value) +
                                      " replicas mount a claim that is ReadWriteOnce: those on "
                                      "other nodes wait for ever");
  }
}

}  // namespace

extern const Rule model_cache_not_persistent_rule;
const Rule model_cache_not_persistent_rule = {
    .id = "KVB508",
    .name = "model-cache-not-persistent",
    .severity = Severity::kWarning,
    .summary = "weights are downloaded again at every start, or do not fit where they go",
    .doc = R"md(
## What it does
Finds services that download their model to a place that is lost with the container or too small for it.

## Why it matters
Every restart, update and scale-up waits for the hub, and depends on it; a disk that fills up evicts the pod in
the middle of the download.

## How it is computed
For models named by their id on the hub, in vLLM's own image: the folder that `download-dir`, $HF_HUB_CACHE,
$HF_HOME, $XDG_CACHE_HOME or $HOME decide, against the container's volumes. A warning for no volume, for an
emptyDir without a limit, for a claim smaller than 1.2 times the weights, and for a claim of one node that
several replicas mount; an error where the volume, or the limit of ephemeral storage, is smaller than the
weights. Other images may hold the model; streaming loaders and other hubs are not judged.

## Fix
A volume on /root/.cache/huggingface that outlives the pod.

## Since which engine version
All.

## References
huggingface_hub 1.0, constants.py; Kubernetes documentation, "Local ephemeral storage"; vLLM issue 15862.
)md",
    .bad = R"yaml(
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
          args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]  # expect: KVB508
          resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
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
          resources: {limits: {nvidia.com/gpu: 1}}
          volumeMounts: [{name: hub, mountPath: /root/.cache/huggingface}]
      volumes: [{name: hub, persistentVolumeClaim: {claimName: hub}}]
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
