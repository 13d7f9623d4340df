#include <array>
#include <string>

#include "lint/rule.h"
#include "rules/container.h"

namespace kvbudget {
namespace {

enum class User { kRoot, kStranger, kNotNamed, kUnknown };

// What the image knows of the user: its home is `/` when it does not know him.
User user_of(const Surroundings& around, Version version) {
  constexpr int64_t kVllm = 2000;
  constexpr int64_t kUbuntu = 1000;
  if (!around.run_as_user) return around.run_as_non_root ? User::kNotNamed : User::kRoot;
  const int64_t id = around.run_as_user->value;
  if (id == 0) return User::kRoot;
  const bool known = (id == kVllm && version >= Version{0, 22, 0}) ||
                     (id == kUbuntu && version >= Version{0, 27, 0});
  return known ? User::kUnknown : User::kStranger;
}

bool is_writable(const Surroundings& around, User user, std::string_view path) {
  const Mount* mount = mount_of(around, path);
  if (mount != nullptr) return !mount->read_only;
  if (around.read_only_root) return false;
  return user == User::kRoot || path.starts_with("/tmp") || path.starts_with("/var/tmp");
}

// One place that is given is taken as a sign that its author knew: which caches a model writes
// depends on its kernels.
bool has_place(const Deployment& d, const Surroundings& around, User user) {
  constexpr std::array<std::string_view, 6> kVariables = {
      "HOME",   "XDG_CACHE_HOME", "VLLM_CACHE_ROOT", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR",
      "HF_HOME"};
  for (const std::string_view name : kVariables) {
    const auto value = env_text(d, name);
    if (value && (!value->known || is_writable(around, user, value->text))) return true;
  }
  const std::string home = user == User::kRoot ? "/root" : "";
  for (const char* folder :
       {"/.cache", "/.cache/vllm", "/.cache/huggingface", "/.triton", "/.config"}) {
    if (is_writable(around, user, home + folder)) return true;
  }
  return false;
}

void check(const Deployment& d, Reporter& reporter) {
  const Surroundings* around = whole_container(d);
  if (around == nullptr || !is_official_cuda_image(d)) return;
  const auto image = image_of(d);
  if (image->tag.find("nonroot") != std::string_view::npos) return;
  const User user = user_of(*around, d.version);
  if (user == User::kUnknown || (user == User::kRoot && !around->read_only_root)) return;
  if (has_place(d, *around, user)) return;
  const Location where = around->security_where ? around->security_where : d.start.where;
  std::string who = "on a read-only root";
  if (user == User::kStranger) who = "as user " + std::to_string(around->run_as_user->value);
  if (user == User::kNotNamed) who = "as a user that is not root";
  Diagnostic& finding = reporter.report(
      where, who + " the caches go to '" + (user == User::kRoot ? "/root" : "/") +
                 "', which cannot be written: the engine stops with PermissionError");
  finding.notes.push_back({"set HOME to /tmp or to a volume", {}});
}

}  // namespace

extern const Rule unwritable_home_rule;
const Rule unwritable_home_rule = {
    .id = "KVB509",
    .name = "unwritable-home",
    .severity = Severity::kError,
    .summary = "the engine may not write where its caches go",
    .doc = R"md(
## What it does
Finds containers that run as another user than root, or on a read-only root, and have no place for the caches of
Triton, torch.compile, vLLM and the hub.

## Why it matters
A user that the image does not know has the home directory `/`: the engine stops with "PermissionError: [Errno
13] Permission denied: '/.cache'".

## How it is computed
For vLLM's own images, which have root and, from 0.22, `vllm` (2000) as users; images on Ubuntu 24.04, from
0.27, know 1000 too. An error unless $HOME, $XDG_CACHE_HOME, $VLLM_CACHE_ROOT, $TRITON_CACHE_DIR,
$TORCHINDUCTOR_CACHE_DIR or $HF_HOME lead to a volume or to /tmp, or a volume is mounted in the home directory.
`runAsNonRoot` without a user id is an error too: the image's user is root, and the kubelet refuses to start it;
on OpenShift the platform names a user, whose home is `/` again.

## Fix
`HOME=/tmp`, or a volume that it names.

## Since which engine version
All.

## References
docker/Dockerfile of vLLM (users since pull request 40275); llm-d issues 1430 and 1711.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  securityContext: {runAsUser: 1000, runAsNonRoot: true}  # expect: KVB509
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  securityContext: {runAsUser: 1000, runAsNonRoot: true}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args: ["--model=Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
      env: [{name: HOME, value: /tmp}]
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
