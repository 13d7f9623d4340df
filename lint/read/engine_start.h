// One start of an inference engine, as a file states it: the words of its command line, its
// environment, its image and the GPUs it is given. Format readers produce these; nothing here knows
// what a flag means.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lint/read/document.h"
#include "lint/read/source.h"
#include "lint/read/surroundings.h"

namespace kvbudget {

/// A word of the command line. `known` is false when part of it is decided elsewhere (template,
/// shell variable).
struct Word {
  SourceText text;
  bool known = true;
};

struct EnvVar {
  SourceText name;
  SourceText value;
  bool known =
      true;  ///< false: comes from a secret, a config map that is not on disk, or a template
};

/// What a file says about the accelerators of one engine.
struct GpuRequest {
  std::optional<Located<std::string>>
      name;  ///< as written: GKE label, gpu.product, instance type, "L4"
  /// Names among which only the cluster or the cloud decides: several values of a node affinity,
  /// alternatives of a task.
  std::vector<Located<std::string>> choices{};
  bool chosen_once = false;  ///< a task takes one of the choices, which the author ranked himself
  std::optional<Located<uint32_t>> count;  ///< GPUs of one container; absent when "all" or not said
  std::string resource;  ///< "nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.10gb" …
};

/// A key of a vLLM config file, given in place of flags.
struct ConfigKey {
  SourceText key;
  NodePtr value;
  bool known = true;  ///< false: whatever deploys the file replaces part of the value
};

/// A flag that the program around the engine takes for itself (Dynamo's worker).
struct WrapperFlag {
  std::string name;  ///< without dashes and `no-`
  SourceText value;  ///< of a switch "true" or "false", at the flag
  bool known = true;
};

/// A JSON file that a ConfigMap of the same file mounts.
struct MountedJson {
  std::string path;  ///< in the container
  SourceText text;
};

/// What runs the engine: its options differ, and the defaults of a step's sizes (vLLM's
/// UsageContext).
enum class EngineUse {
  kServer,   ///< `vllm serve`, the api_server module, and programs that call themselves that
  kBatch,    ///< `vllm run-batch`
  kOffline,  ///< the class LLM
  kEmbedded  ///< EngineArgs or AsyncEngineArgs in somebody's own program
};

struct EngineStart {
  const SourceFile* file = nullptr;
  Location where;    ///< the command (`vllm serve` or the first argument), for findings about the
                     ///< whole start
  std::string kind;  ///< format: "kubernetes", "compose", "shell", "kserve", "command-line" …
  std::string name;  ///< "Deployment/llama/vllm", "service chat": identity without path or line
  std::vector<Word>
      argv;  ///< words behind the entry point: flags and the positional model, never the program
  std::vector<WrapperFlag> wrapper_flags;
  bool serve = true;  ///< `vllm serve`; false for everything else
  EngineUse use = EngineUse::kServer;
  /// Words that start the engine where the image's own entrypoint already does.
  std::vector<Word> repeated_entry;
  bool entry_replaced = false;  ///< only arguments stand where the image's entrypoint was
  /// Words on the lines behind a command that was meant to go on: a backslash is missing.
  std::vector<Word> cut_off;
  std::vector<ConfigKey> config;  ///< keys of a vLLM config file: the file itself, or mounted in it
  bool keys_are_arguments = false;  ///< `config` holds keyword arguments (`engine_kwargs`), not
                                    ///< lines of a config file: false and null mean something
  std::vector<EnvVar> env;
  std::optional<SourceText> image;
  bool image_known = true;
  std::optional<SourceText>
      version;  ///< release of vLLM said beside the image: an annotation, a pin of pip
  GpuRequest gpu;
  std::optional<Located<uint32_t>> replicas;
  std::optional<Located<uint32_t>>
      nodes;  ///< machines that one engine spans (LeaderWorkerSet size, --nnodes)
  bool joins_ray_cluster = false;  ///< the file starts Ray, whose workers may bring more GPUs
  bool serves_traffic =
      false;  ///< a probe, a service, a port or replicas stand beside it: not somebody's experiment
  std::vector<MountedJson> mounted_json;
  /// What its container is given besides GPUs; null where no orchestrator runs it.
  std::shared_ptr<const Surroundings> around;
};

/// Everything a file holds.
struct FileContents {
  std::vector<EngineStart> starts;
  std::vector<SyntaxError> errors;
};

/// Finds the engine starts of one file; the format is told by content first and by name second.
FileContents read_file(const SourceFile& file);

/// The start that a command line of our own names (`kvbudget estimate -- vllm serve …`); positions
/// are null. Words before the entry point may set the environment (`VLLM_USE_V1=1 vllm serve …`).
FileContents read_command_line(const std::vector<std::string>& words);

}  // namespace kvbudget
