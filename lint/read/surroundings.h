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
};

/// A volume claim that the file asks for, or a workload's template of one.
struct Claim {
  std::string name;
  std::optional<Located<uint64_t>> size_bytes;
};

struct Surroundings {
  bool kubernetes = false;
  bool compose = false;

  std::optional<Probe> startup, liveness, readiness;
  std::vector<NamedPort> ports;         ///< of every container of the pod
  std::vector<NamedPort> target_ports;  ///< that Services of the file which select the pod ask for

  std::vector<Claim> claims;
  std::vector<Mount> mounts;
  bool host_ipc = false;
  bool host_network = false;
  std::optional<Located<uint64_t>> shm_bytes;  ///< Compose's shm_size
  std::optional<Located<uint64_t>> memory_limit_bytes;
  std::optional<Located<uint64_t>> ephemeral_limit_bytes;
  std::optional<Located<double>> cpu_limit, cpu_request;  ///< cores

  /// As written, "0.5" too; `gpu_in_limits` is what grants a GPU in Kubernetes.
  std::optional<Located<std::string>> gpu_quantity;
  bool gpu_in_limits = false;
  std::vector<std::string> gpu_devices;  ///< ids that the file pins: "0", "GPU-5f…"
  Location gpu_devices_where;

  std::optional<Located<int64_t>> run_as_user;
  bool run_as_non_root = false;
  bool read_only_root = false;
  Location security_where;

  bool service_links = true;                   ///< the kubelet sets variables for Services
  std::vector<Located<std::string>> services;  ///< names of the file's Services
  std::vector<Exposure> exposures;
  std::vector<std::string> starts_after_healthy;  ///< Compose: depends_on service_healthy

  std::vector<SourceText> annotations;  ///< values of kvbudget.io/ignore

  bool deployment = false;  ///< a Deployment: updates start new pods before old ones stop
  bool recreates = false;   ///< strategy Recreate, or maxSurge 0
  Location strategy_where;
};

}  // namespace kvbudget
