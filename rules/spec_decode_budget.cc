#include <algorithm>
#include <array>

#include "lint/engine/json_text.h"
#include "lint/engine/speculation.h"
#include "lint/memory/format.h"
#include "lint/rule.h"
#include "rules/propose.h"
#include "rules/version_text.h"

namespace kvbudget {
namespace {

constexpr Version kLoraCheck{0, 11, 0};
constexpr Version kRefusesEmptySteps{0, 20, 0};
constexpr Version kSlotsOfOneRequest{0, 28, 0};
constexpr uint64_t kFewTokens = 8192;  // below, the engine warns (VllmConfig, 0.20 to 0.27)

void propose_tokens(const Deployment& d, uint64_t needed, Diagnostic& finding) {
  propose_value(d, "max-num-batched-tokens", std::to_string(needed), finding);
}

std::string tokens_text(const Deployment& d) {
  return "max-num-batched-tokens " + memory::with_commas(d.engine.max_num_batched_tokens);
}

Location place_of(const Deployment& d) {
  return d.where_of(d.settings.has("max-num-batched-tokens") ? "max-num-batched-tokens"
                                                             : "speculative-config");
}

// With adapters every sequence needs room for all that is drafted for it.
bool check_lora(const Deployment& d, Reporter& reporter) {
  if (!d.settings.is_true("enable-lora") || d.version < kLoraCheck) return false;
  const uint64_t width = uint64_t{d.engine.num_speculative_tokens} + 1;
  const uint64_t needed = width * d.engine.max_num_seqs;
  if (d.engine.max_num_batched_tokens >= needed) return false;
  Diagnostic& finding = reporter.report(
      place_of(d),
      tokens_text(d) + " is less than max-num-seqs " + memory::with_commas(d.engine.max_num_seqs) +
          " x " + std::to_string(width) +
          " tokens, which speculative decoding with adapters needs: " + memory::with_commas(needed),
      exact_severity(d));
  propose_tokens(d, needed, finding);
  return true;
}

// SpeculativeConfig.max_num_new_slots_for_drafting, 0.17 to 0.27.
uint64_t slots_of_request(const Deployment& d, const Speculation& speculation) {
  uint64_t slots = 0;
  const std::string object = d.settings.text("speculative-config");
  if (json_member(object, "parallel_drafting") == "true") {
    slots = d.engine.num_speculative_tokens == 0 ? 0 : d.engine.num_speculative_tokens - 1U;
  }
  return slots + (speculation.method == "draft_model" ? 1 : 0);
}

void check_slots(const Deployment& d, const Speculation& speculation, Reporter& reporter) {
  if (d.version < kRefusesEmptySteps || d.version >= kSlotsOfOneRequest) return;
  if (d.settings.has("max-num-scheduled-tokens")) return;
  const uint64_t slots = slots_of_request(d, speculation) * d.engine.max_num_seqs;
  if (slots == 0) return;
  const uint64_t tokens = d.engine.max_num_batched_tokens;
  const std::string taken =
      tokens_text(d) + " less " + memory::with_commas(slots) + " slots for drafting";
  if (tokens <= slots) {
    Diagnostic& finding =
        reporter.report(place_of(d), taken + " leaves no token to schedule", exact_severity(d));
    propose_tokens(d, slots + kFewTokens, finding);
  } else if (tokens - slots < kFewTokens) {
    reporter.report(place_of(d),
                    taken + " leaves " + memory::with_commas(tokens - slots) +
                        " tokens a step, which slows prompts down",
                    Severity::kWarning);
  }
}

void check_tokens(const Deployment& d, const Speculation& speculation, Reporter& reporter) {
  constexpr std::array<std::string_view, 3> kNeedTokens = {"eagle", "eagle3", "ngram"};
  const std::string stated =
      json_member(d.settings.text("speculative-config"), "method").value_or("");
  const bool needs = std::find(kNeedTokens.begin(), kNeedTokens.end(), stated) != kNeedTokens.end();
  if (needs && !speculation.tokens) {
    reporter.report(d.where_of("speculative-config"),
                    "speculative-config needs num_speculative_tokens for the method " + stated,
                    exact_severity(d));
  }
  const bool own = speculation.method == "mtp" && d.shape && d.shape->mtp;
  if (!own || !speculation.tokens || d.shape->mtp->steps == 0) return;
  const uint64_t steps = d.shape->mtp->steps;
  if (*speculation.tokens <= steps || *speculation.tokens % steps == 0) return;
  reporter.report(d.where_of("speculative-config"),
                  "num_speculative_tokens " + std::to_string(*speculation.tokens) +
                      " must be a multiple of the " + std::to_string(steps) +
                      " tokens that the checkpoint drafts at once",
                  exact_severity(d));
}

void check(const Deployment& d, Reporter& reporter) {
  const std::optional<Speculation> speculation = read_speculation(d.settings);
  if (!speculation || d.settings.opaque_words || !d.reads("speculative-config")) return;
  check_tokens(d, *speculation, reporter);
  const bool stated = d.settings.has("max-num-batched-tokens") && d.settings.has("max-num-seqs");
  const bool known = stated || (d.gpu && d.shape);
  if (!known || !d.reads("max-num-batched-tokens") || !d.reads("max-num-seqs")) return;
  if (d.engine.max_num_batched_tokens < d.engine.max_num_seqs) return;  // KVB407
  if (!check_lora(d, reporter)) check_slots(d, *speculation, reporter);
}

}  // namespace

extern const Rule spec_decode_budget_rule;
const Rule spec_decode_budget_rule = {
    .id = "KVB414",
    .name = "spec-decode-budget",
    .severity = Severity::kError,
    .summary = "speculative decoding does not fit the tokens of a step",
    .doc = R"md(
## What it does
Checks what speculative decoding asks of a step: room for all drafted tokens with LoRA adapters, slots of a draft
model, a number of tokens that the method needs or divides.

## Why it matters
The engine refuses at start, or schedules so few tokens that prompts crawl.

## How it is computed
With adapters `max-num-batched-tokens` must hold `max-num-seqs` times the drafted tokens and one more. A draft model
takes one slot a sequence, parallel drafting one for each further token; from 0.20 to 0.27 these are taken off the
step. Tokens of MTP layers must be a multiple of what the checkpoint drafts at once.

## Fix
More tokens a step, or fewer sequences or drafted tokens.

## Since which engine version
0.11 for adapters, 0.20 to 0.27 for slots, 0.8 for the rest.

## References
vllm/engine/arg_utils.py, `create_engine_config`; vllm/config/vllm.py, `_set_max_num_scheduled_tokens`;
vllm/config/speculative.py; vLLM issue 41456.
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
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=4096
        - --enable-lora
        - --max-num-seqs=32
        - --max-num-batched-tokens=128  # expect: KVB414
        - '--speculative-config={"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":4}'
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
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=4096
        - --enable-lora
        - --max-num-seqs=32
        - --max-num-batched-tokens=2048
        - '--speculative-config={"method":"ngram","num_speculative_tokens":4,"prompt_lookup_max":4}'
      resources: {limits: {nvidia.com/gpu: 1}}
)yaml",
    .check_deployment = &check,
};

}  // namespace kvbudget
