// Engines of one file that use the same GPU at the same time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lint/deployment.h"

namespace kvbudget {

struct SharedGpu {
  std::vector<std::string> devices;  ///< "0", "GPU-5f…"
  std::vector<size_t> engines;       ///< indices into the deployments, at least two
};

/// Only what is certain: Compose services, on the devices that the file, their environment and
/// Docker give them; services of different profiles may never run together. GPUs with the same
/// engines come as one.
std::vector<SharedGpu> shared_gpus(std::span<const Deployment> deployments);

/// "service chat and service embed".
std::string names_of(std::span<const Deployment> deployments, const std::vector<size_t>& engines);

}  // namespace kvbudget
