// One engine start with everything that could be found out about it: version, settings, model, GPU,
// estimate. Rules look at this and at nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lint/admission.h"
#include "lint/engine/gpus.h"
#include "lint/engine/settings.h"
#include "lint/engine/version.h"
#include "lint/memory/engine_settings.h"
#include "lint/memory/estimate.h"
#include "lint/memory/model_shape.h"
#include "lint/models/context.h"
#include "lint/plan_file.h"
#include "lint/read/engine_start.h"
#include "lint/workload.h"

namespace kvbudget {

/// An input that could not be found, and how to give it.
struct MissingInput {
  std::string
      what;  ///< "model", "model config", "gpu", "engine version", "gpu count", a setting's name
  std::string detail;  ///< what is wrong: "no config.json for org/name"
  std::string hint;    ///< "pass --model-config PATH"
};

struct Deployment {
  EngineStart start;

  Version version;  ///< stated, or the newest known when assumed
  bool version_assumed = true;

  Settings settings;

  std::string model;  ///< id or path as the engine would see it, empty when unknown
  Location model_where;
  std::shared_ptr<const memory::ModelShape>
      shape;  ///< null when the model's config could not be read or understood

  /// The checkpoint's own shape, where --quantization converts it while it is loaded; else null.
  std::shared_ptr<const memory::ModelShape> as_stored;
  /// The model alone, where `shape` holds what drafts tokens for it too; else null.
  std::shared_ptr<const memory::ModelShape> without_draft;

  std::string config_source;  ///< where its config.json was found
  std::string config_sha256;  ///< of its bytes, 64 hex digits

  std::optional<Gpu> gpu;  ///< null when not known
  uint32_t gpu_count = 0;  ///< GPUs given to one engine, all nodes together; 0 when not known
  Location gpu_count_where;

  ContextLimit context;  ///< what the model was built for, by this version's rules
  bool context_checked =
      false;  ///< false: the guard is off, or overrides change the model's length

  memory::EngineSettings
      engine;  ///< numbers in force, defaults applied (sound only as far as inputs are known)
  bool chunked_prefill = true;
  std::vector<std::string> unreadable;  ///< settings whose value is decided elsewhere, or is none
  Workload workload;                    ///< that the service is meant for; empty where nobody says
  std::vector<SyntaxError> workload_faults;  ///< in the annotation that says so
  Admission admission;                       ///< that the project file asks for
  std::vector<PlanFile> plans;               ///< beside it or mounted, of this model or others
  std::optional<memory::Estimate> estimate;  ///< null when an input is missing
  std::vector<MissingInput> missing;         ///< why there is no estimate
  std::shared_ptr<const Deployment> before;  ///< the same under the release of --since, or null

  /// The GPU as lint/memory sees it; only where `gpu` is known.
  memory::GpuMemory card() const;
  /// Ranks that run where this command runs; the others belong to other pods, or to a Ray cluster.
  uint64_t local_ranks() const;
  /// Further ranks run on machines that the file says nothing about.
  bool spans_other_machines() const;
  /// Ranks of one model over slices of a card, of which each process sees one.
  bool divides_over_slices() const;
  /// Fewer GPUs are given, or seen, than ranks run here.
  bool lacks_gpus() const;
  /// Place of a setting's value, or the command itself when the setting is a default.
  Location where_of(std::string_view setting) const;
  /// Whether the numbers in force can be compared: none of them had to be left out.
  bool reads(std::string_view setting) const;
  /// $VLLM_PP_LAYER_PARTITION, whether it fits the model or not; empty when unset or no numbers.
  std::vector<uint32_t> stated_pipeline_layers() const;
  /// An environment variable of the engine's process, or null.
  const EnvVar* env(std::string_view name) const;
  /// Whether a variable is on; nullopt where it is not set, empty or decided elsewhere.
  std::optional<bool> switched(std::string_view variable) const;
  /// The V0 engine feeds its profile run an image or recording for each of max_num_seqs sequences:
  /// EncoderDecoderModelRunner.profile_run (vllm/worker/enc_dec_model_runner.py, 0.5 to 0.10). With
  /// the default of 256 Llama 3.2 Vision ran out of memory on cards that hold it four times (issues
  /// 9445, 10034).
  bool profiles_every_sequence() const;
  /// Share of the blocks that stays free at admission: `watermark` came with 0.24 and is 0 unless
  /// it is set; before, V1 kept none.
  double watermark() const;

  void add_missing(std::string what, std::string detail, std::string hint) {
    missing.push_back({std::move(what), std::move(detail), std::move(hint)});
  }
};

}  // namespace kvbudget
