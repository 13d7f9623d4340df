// What rules about containers ask of a deployment and of what stands around it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lint/deployment.h"

namespace kvbudget {

/// What stands around an engine whose pod or service is in the file as it will run; null for all
/// others, where a thing that is missing may be added by a chart, an operator or another file.
const Surroundings* whole_container(const Deployment& d);

/// Something keeps it running and replaces it: a workload of Kubernetes, a resource of an operator,
/// values of a chart, a Compose service. Not a bare Pod, a Job, a script or a command line.
bool is_service(const Deployment& d);

/// An image reference without its digest.
struct ImageName {
  std::string_view repository;
  std::string_view tag;  ///< empty when there is none
  bool pinned = false;   ///< by a digest
};
/// The image, when the file says it completely.
std::optional<ImageName> image_of(const Deployment& d);
/// The image is vLLM's own build for CUDA, or a mirror of it under the same name.
bool is_official_cuda_image(const Deployment& d);

/// The file asks for GPUs, of whatever vendor; engines on CPUs and TPUs need other things.
bool uses_gpus(const Deployment& d);

/// GPUs that one container of the engine holds ranks for; 0 when the file does not say how the
/// ranks are spread over machines.
uint64_t ranks_in_container(const Deployment& d);

/// The mount that `path` lies on, the deepest of several; null when it is the container's own disk.
const Mount* mount_of(const Surroundings& around, std::string_view path);

/// The value of a variable of the container; nullopt when not set. `known` is false where the value
/// comes from elsewhere.
struct EnvText {
  std::string text;
  bool known = true;
};
std::optional<EnvText> env_text(const Deployment& d, std::string_view name);

/// The model is an id of the Hugging Face hub, which a start downloads: no path, no bucket, no
/// streaming loader, no other hub.
bool is_downloaded(const Deployment& d);
/// Where a download is kept; empty when that is not known.
std::string download_folder(const Deployment& d);
/// Bytes of the checkpoint's weights; 0 when the model is not known.
uint64_t checkpoint_bytes(const Deployment& d);

/// Host memory that an engine of `ranks` takes beside its weights. Judged from reports of
/// containers that were killed (vLLM issues 322, 1395, 4462): processes for the API, the scheduler
/// and each rank, each with Python, PyTorch and a CUDA context.
struct HostNeed {
  uint64_t least = 0;
  uint64_t likely = 0;
};
HostNeed host_memory_need(uint64_t ranks);

}  // namespace kvbudget
