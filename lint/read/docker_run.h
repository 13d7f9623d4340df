// `docker run [flags] IMAGE [arguments]`, and podman and nerdctl, which take the same flags.
#pragma once

#include <optional>
#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

struct ContainerRun {
  Location where;  ///< `docker`
  Word image;
  std::vector<Word> entrypoint;  ///< of `--entrypoint`
  std::vector<Word> arguments;   ///< behind the image
  std::vector<EnvVar> env;
  GpuRequest gpu;
  bool publishes_port = false;
  Surroundings around;
};

std::optional<ContainerRun> read_container_run(const std::vector<Word>& words);

/// Last part of a path: "vllm" of "/opt/bin/vllm".
std::string_view base_name(std::string_view path);

}  // namespace kvbudget
