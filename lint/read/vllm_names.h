// The names by which vLLM is recognised in other people's files: options, images.
//
// This is recognition only. Which options exist in which version is lint/engine's business.
#pragma once

#include <string_view>
#include <vector>

#include "lint/read/engine_start.h"

namespace kvbudget {

/// A well-known option of `vllm serve`, without dashes in front; underscores count as dashes.
bool is_vllm_option(std::string_view name);
/// … that no other inference server shares.
bool is_distinctive_option(std::string_view name);

/// An option of another inference server that vLLM never had ("mem-fraction-static").
bool is_foreign_option(std::string_view name);

/// Arguments of a server: a port among them, and several that only an engine's size needs.
bool look_like_server_arguments(const std::vector<Word>& words);

/// Words that can only be arguments of vLLM: two well-known options, one of them distinctive, and
/// none of another server.
bool look_like_vllm_arguments(const std::vector<Word>& words);

/// One of the words is an option that no other server has.
bool hold_vllm_option(const std::vector<Word>& words);

/// "vllm" stands in the text, in any case.
bool contains_vllm(std::string_view text);

/// True when the text speaks of vLLM or its options; files that do not are left alone.
bool mentions_vllm(std::string_view text);

enum class ImageKind {
  kOther,      ///< nothing is known about what it starts
  kVllm,       ///< its name says vLLM; it starts the engine if the arguments say so
  kVllmServer  ///< its entrypoint is the OpenAI server: every container of it is an engine
};
ImageKind image_kind(std::string_view image);

/// The project's own server image, whose entrypoint is known to run the engine.
bool runs_engine(std::string_view image);

/// True for images of other inference servers.
bool is_other_server(std::string_view image);

/// Whether the server image's entrypoint is `vllm serve`; before, it was the api_server module.
bool image_runs_serve(std::string_view image);

}  // namespace kvbudget
