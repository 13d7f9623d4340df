// What stands around an engine in its manifest: what its container may use besides GPUs, who
// watches it, who reaches it. Read from Kubernetes pods and Compose services alike, so that a rule
// asks one question for both. Absent means that the file does not say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lint/read/source.h"

namespace kvbudget {

/// Seconds and counts as the kubelet takes them; its defaults where the file has none (Kubernetes
/// API reference 1.30, Probe).
struct Probe {
  Location where;
  uint32_t initial_delay = 0;
  uint32_t period = 10;
  uint32_t failures = 3;
  uint32_t timeout = 1;
  bool timeout_written = false;
  std::optional<Located<std::string>> port;  ///< number or name

  uint64_t allowed_seconds() const {
    return uint64_t{initial_delay} + uint64_t{period} * uint64_t{failures};
  }
};

struct Mount {
  enum class Kind { kMemory, kEmptyDir, kHostPath, kClaim, kOther };
  Kind kind = Kind::kOther;
  std::string path;  ///< inside the container
  Location where;
  bool read_only = false;
  bool one_node = false;                        ///< a claim that pods of a single node may mount
  std::optional<Located<uint64_t>> size_bytes;  ///< limit of the volume
};

/// A way in from outside: a Service of type LoadBalancer, an Ingress, a published port.
struct Exposure {
  std::string how;  ///< "Service chat, type LoadBalancer"
  Location where;
};

struct NamedPort {
  std::string name;
  std::string number;
  Location where;
  bool own = true;  ///< of the engine's container
};

/// A volume claim that the file asks for, or a workload's template of one.
struct Claim {
  std::string name;
  std::optional<Located<uint64_t>> size_bytes;
  bool one_node = false;  ///< ReadWriteOnce is all that it asks for
};

/// A label that a node must have to run the pod.
struct NodeLabel {
  std::string name;
  Located<std::string> value;
};

struct Surroundings {
  bool kubernetes = false;
  bool compose = false;
  std::string workload;  ///< kind of the Kubernetes object: "Deployment"
  /// All that the container is given stands in the file. Not so for what operators and charts add
  /// to, for templates, and for patches: what is missing there may come from elsewhere.
  bool whole = false;
  /// Something starts it again and replaces it on updates; not so for a Pod or a Job.
  bool controlled = false;

  std::optional<Probe> startup, liveness, readiness;
  std::vector<NamedPort> ports;         ///< of every container of the pod
  bool runs_script = false;             ///< the engine may be one program of several
  bool undeclared_ports = false;        ///< a container beside the engine's declares none
  std::vector<NamedPort> target_ports;  ///< that Services of the file which select the pod ask for

  std::vector<Claim> claims;
  std::vector<Mount> mounts;
  Location pod_begin;     ///< first key of a pod's spec, where one more can stand; block style only
  bool host_ipc = false;  ///< or another container's
  bool host_network = false;
  std::optional<Located<uint64_t>> shm_bytes;  ///< Compose's shm_size
  std::optional<Located<uint64_t>> memory_limit_bytes;
  std::optional<Located<uint64_t>> ephemeral_limit_bytes;
  std::optional<Located<double>> cpu_limit, cpu_request;  ///< cores

  /// As written, "0.5" too; `gpu_in_limits` is what grants a GPU in Kubernetes.
  std::optional<Located<std::string>> gpu_quantity;
  bool gpu_in_limits = false;
  /// GPUs may come by another way: a runtime class, resource claims, a device plugin under another
  /// name, privileges.
  bool other_gpu_access = false;
  std::vector<Located<std::string>> devices;  ///< extended resources: "amd.com/gpu", "rdma/ib"
  std::vector<NodeLabel> node_labels;
  std::vector<std::string> gpu_devices;  ///< ids that the file pins: "0", "GPU-5f…"
  Location gpu_devices_where;

  std::optional<Located<int64_t>> run_as_user;
  bool run_as_non_root = false;
  bool read_only_root = false;
  Location security_where;

  bool more_variables = false;  ///< some come from a secret, a map or a file that is elsewhere
  bool service_links = true;    ///< the kubelet sets variables for Services
  /// Names of the file's Services of the same namespace that have an address, for which it does.
  std::vector<Located<std::string>> services;
  std::vector<std::string> own_services;  ///< those that select the pod, of any kind
  std::vector<Exposure> exposures;
  std::vector<std::string> starts_after_healthy;  ///< Compose: depends_on service_healthy
  std::vector<std::string> profiles;  ///< Compose: runs only where one of these is asked for

  std::vector<SourceText> annotations;  ///< values of kvbudget.io/ignore
  std::optional<SourceText> load;       ///< value of kvbudget.io/workload

  bool deployment = false;      ///< a Deployment: updates start new pods before old ones stop
  bool recreates = false;       ///< strategy Recreate, or maxSurge 0
  bool surges = false;          ///< the file itself asks for a maxSurge above 0
  std::string max_unavailable;  ///< as written, "25%" too
  Location strategy_where;
};

}  // namespace kvbudget
