// Job files of HashiCorp Nomad.
#pragma once

#include "lint/read/engine_start.h"
#include "lint/read/hcl.h"

namespace kvbudget {

/// Adds the engines that a block `job "NAME" { … }` starts.
void read_nomad_job(const SourceFile& file, const HclBlock& job, FileContents& out);

}  // namespace kvbudget
