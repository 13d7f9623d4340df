// What a batch script asks of Slurm for itself.
#pragma once

#include <optional>
#include <string>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// The type of card that the script's `#SBATCH` lines name; nothing where they name none or
/// several. How many each engine gets is not said: the job's steps share them.
std::optional<Located<std::string>> slurm_gpu(const SourceFile& script);

}  // namespace kvbudget
