#include "lint/memory/activation.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/memory_notes.h"
#include "rules/obstacle_rule.h"
#include "rules/propose.h"
#include "rules/what_if.h"

namespace kvbudget {
namespace {

using memory::Obstacle;

// From here on the encoder's share of what the cache could have is worth a word.
constexpr double kLargeShare = 0.2;
constexpr uint64_t kLargeCard = 70 * memory::kGiB;

// A file that limits items or their size has thought of them.
bool limits_inputs(const Deployment& d) {
  constexpr const char* kLimits[] = {"limit-mm-per-prompt", "mm-processor-kwargs",
                                     "language-model-only", "skip-mm-profiling"};
  for (const char* name : kLimits) {
    if (d.settings.has(name)) return true;
  }
  return false;
}

void add_ways(const Deployment& d, Diagnostic& finding) {
  const bool only = d.version >= Version{0, 17, 0};
  finding.notes.push_back(
      {"a service of text alone takes --limit-mm-per-prompt='{\"image\": 0, \"video\": 0}'" +
           std::string(only ? " or --language-model-only" : ""),
       {}});
  finding.notes.push_back(
      {"smaller images: --mm-processor-kwargs='{\"max_pixels\": …}' where the processor knows it" +
           std::string(d.version >= Version{0, 11, 1}
                           ? ", or --limit-mm-per-prompt with a width and a height"
                           : ""),
       {}});
}

bool matters(const Deployment& d, const memory::Estimate& text_only) {
  const memory::Estimate& e = *d.estimate;
  if (rule_of_obstacle(d) == "KVB110") return true;
  if (limits_inputs(d)) return false;
  if (e.obstacle != Obstacle::kNone) {
    return is_short_of_memory(e.obstacle) && text_only.obstacle == Obstacle::kNone;
  }
  const uint64_t peak =
      memory::less(e.term("activation")->bytes.best, text_only.term("activation")->bytes.best);
  return e.total_bytes < kLargeCard && !d.engine.kv_cache_memory_bytes &&
         static_cast<double>(peak) > kLargeShare * static_cast<double>(e.available.best);
}

// vLLM's own example for Llama 3.2 Vision takes so many.
constexpr uint32_t kSequencesThatFit = 16;

void check_every_sequence(const Deployment& d, Reporter& reporter) {
  if (!d.profiles_every_sequence() || !d.engine.vision_encoder) return;
  if (d.engine.max_num_seqs <= kSequencesThatFit) return;
  Diagnostic& finding = reporter.report(
      d.where_of("max-num-seqs"),
      "the profile run of this release takes an image for each of max-num-seqs " +
          std::to_string(d.engine.max_num_seqs) +
          (d.settings.has("max-num-seqs") ? "" : " (the default)") + " sequences at once");
  suggest_value(d, "max-num-seqs", std::to_string(kSequencesThatFit), finding);
}

void check(const Deployment& d, Reporter& reporter) {
  check_every_sequence(d, reporter);
  if (!d.estimate || !d.shape->multimodal || d.shape->encoder.item_tokens == 0) return;
  if (!d.engine.vision_encoder || !d.engine.profile_encoders || d.engine.v0_engine) return;
  const memory::Estimate text_only = what_if_text_only(d);
  if (!matters(d, text_only)) return;
  const memory::Estimate& e = *d.estimate;
  const memory::LargestItem item = memory::largest_item(*d.shape, d.engine);
  if (item.tokens == 0) return;
  const int64_t gained = text_only.available.best - e.available.best;
  const bool starts = e.obstacle != Obstacle::kNone && text_only.obstacle == Obstacle::kNone;
  Diagnostic& finding = reporter.report(
      d.model_where ? d.model_where : d.start.where,
      std::string("the profile run takes ") + (item.is_video ? "a video" : "an image") +
          " of the largest size, " + memory::with_commas(item.tokens) +
          " tokens, through the encoder" +
          (gained > 0
               ? "; without images the KV cache would have " + memory::gib_text(gained) + " more"
               : "") +
          (starts ? " and the engine would start" : ""),
      rule_of_obstacle(d) == "KVB110" ? severity_of(e) : Severity::kWarning);
  add_ways(d, finding);
}

}  // namespace

extern const Rule multimodal_profile_too_large_rule;
const Rule multimodal_profile_too_large_rule = {
    .id = "KVB110",
    .name = "multimodal-profile-too-large",
    .severity = Severity::kWarning,
    .summary = "the profile run of images takes memory that the KV cache needs",
    .doc = R"md(
## What it does
Finds multimodal models, with no limit on what a request may bring, whose encoder decides about the start: without
images it would succeed, or the KV cache would be a fifth larger on a GPU below 70 GiB.

## Why it matters
vLLM profiles the largest image that the model's processor accepts, 16,384 tokens in the Qwen-VL families, so that a
model that "fits" fails at start or loses its KV cache. Qwen2-VL and Qwen2.5-VL also take videos of as many such frames
as the context holds: 114,688 tokens where max-model-len is 128,000.

## How it is computed
The estimate of this deployment, once as it is and once without images: no encoder run in the profile, and from 0.15
on no encoder weights. Only for encoders whose largest item is known.

## Fix
`limit-mm-per-prompt` with zeros for what the service does not take, `language-model-only`, or smaller images through
`mm-processor-kwargs`. `skip-mm-profiling` only moves the failure to the first large image.

## Since which engine version
0.8, the V1 engine. Encoder-decoder models of the V0 engine (Llama 3.2 Vision) profile an image for each of
`max-num-seqs` sequences, which is said where there are more than 16.

## References
vllm/multimodal/profiling.py; vllm/worker/enc_dec_model_runner.py, 0.10; vLLM issues 9445, 10034, 12604, 16570, 18550, 22173, 38459.
)md",
    .bad = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-VL-7B-Instruct  # expect: KVB110
        - --max-model-len=8192
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .good = R"yaml(
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: nvidia-l4}
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-VL-7B-Instruct
        - --max-model-len=8192
        - '--limit-mm-per-prompt={"image": 0, "video": 0}'
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
