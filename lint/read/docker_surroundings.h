// What `docker run` gives a container besides GPUs, and volumes as Docker and Compose write them.
#pragma once

#include <string_view>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// "./models:/models:ro", "cache:/root/.cache" or "/data" alone.
Mount read_volume(std::string_view text, const Location& where);

/// One option of the command line, "--shm-size" with its value.
void add_docker_option(std::string_view name, const Word& value, Surroundings& around);

}  // namespace kvbudget
