// The vLLM version that a container image holds, as far as its name says so.
#pragma once

#include <optional>
#include <string_view>

#include "lint/engine/version.h"

namespace kvbudget {

/// Reads the tag of vLLM's own images and their mirrors ("vllm/vllm-openai:v0.19.0@sha256:…"), of
/// builds that follow vLLM's numbers, and of names that spell it out ("rocm/vllm:…_vllm_0.9.1_…").
/// Other projects number their images as they like: nullopt, as for "latest" and nightly builds.
std::optional<Version> image_version(std::string_view image);

/// "vllm/vllm-openai-cpu", "vllm:0.19-cpu": a build that takes no GPU.
bool runs_on_cpu(std::string_view image);

}  // namespace kvbudget
