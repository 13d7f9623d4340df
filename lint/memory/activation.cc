// Two moments compete for the peak.
//
// 1. Sampling. The last stage gathers logits of max_num_seqs sequences over the whole vocabulary
//    (tensor parallelism does not divide them), copies them to float32 and filters them, while the
//    hidden states of the batch are still alive: vllm/v1/worker/gpu_model_runner.py, profile_run
//    and _dummy_sampler_run.
// 2. The widest MLP of the forward pass over max_num_batched_tokens tokens: gate, up and their
//    product beside a few hidden states.
//
// The V0 engine instead takes as few sequences as hold all images and videos of a prompt each, and
// those whole: _dummy_run of vllm/worker/model_runner.py, 0.8.
//
// Alive in both: cuBLAS's workspace, the workspaces of expert kernels, the inputs and outputs of
// the multimodal encoder's dummy batch, what a pipeline stage received or hands on. While a cold
// compile cache is filled, a copy of the embedding table competes too. What differs between
// releases is in engine_model.cc; compared with runs in tests/accuracy.
#include "lint/memory/activation.h"

#include <algorithm>

#include "lint/memory/round_up.h"

namespace kvbudget::memory {
namespace {

constexpr uint64_t kVocabularyPadding = 64;
constexpr uint64_t kFloatBytes = 4;
constexpr EngineRelease kLastWithSampler = {2300};

uint64_t scaled(uint64_t bytes, double factor) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * factor);
}

// The largest image, as far as flags let the processor make it.
EncoderProfile largest_image(const ModelShape& model, const EngineSettings& settings) {
  EncoderProfile item = model.encoder;
  if (settings.max_image_pixels == 0 || item.item_pixels == 0) return item;
  const double share =
      static_cast<double>(settings.max_image_pixels) / static_cast<double>(item.item_pixels);
  item.item_tokens = std::max<uint64_t>(scaled(item.item_tokens, share), 1);
  item.item_inputs = scaled(item.item_inputs, share);
  item.item_peak = scaled(item.item_peak, share);
  return item;
}

// Pairs of frames of the largest video, each of which counts as an image: what the context leaves,
// up to 0.10.1 beside the images. get_num_frames_with_most_features in
// vllm/model_executor/models/qwen2_vl.py: at most 16 frames, 14 from 0.11.
uint64_t video_pairs(const ModelShape& model, const EngineSettings& settings) {
  const EncoderProfile item = largest_image(model, settings);
  const uint64_t videos = settings.videos_per_prompt;
  if (!item.videos_fill_context || item.item_tokens == 0 || videos == 0) return 0;
  const bool images_first = !settings.release.at_least(10, 2);
  const uint64_t images = images_first ? mul(settings.images_per_prompt, item.item_tokens) : 0;
  const uint64_t most = settings.release.at_least(11) ? 7 : 8;
  const uint64_t pairs = less(settings.max_model_len, images) / item.item_tokens / videos;
  return std::clamp<uint64_t>(pairs, 1, most);
}

// Embeddings of the profile are copied to as many as the encoder's budget has: profile_run in
// vllm/v1/worker/gpu_model_runner.py, 0.11 and 0.12.
uint64_t video_room(const ModelShape& model, const EngineSettings& settings) {
  const bool copies = settings.release.at_least(11) && !settings.release.at_least(13);
  return copies && settings.videos_per_prompt != 0 ? model.encoder.video_room : 0;
}

bool profiles_items(const ModelShape& model, const EngineSettings& settings) {
  const bool sees = !model.vision_inputs.empty();
  const bool videos =
      settings.videos_per_prompt != 0 && model.vision_inputs.find("video") != std::string::npos;
  const bool none = sees && settings.images_per_prompt == 0 && !videos;
  return model.encoder.item_tokens != 0 && settings.vision_encoder && settings.profile_encoders &&
         !none && !profile_rules(runner_of(model, settings), settings.release).skips_encoders;
}

// All items of a prompt, as images.
uint64_t images_of_prompt(const ModelShape& model, const EngineSettings& settings) {
  return add(settings.images_per_prompt,
             mul(settings.videos_per_prompt, video_pairs(model, settings)));
}

// The batch of the profile run and the sizes that follow from it.
struct Batch {
  Batch(const ModelShape& model, const EngineSettings& settings)
      : tokens(settings.max_num_batched_tokens),
        sequences(std::min(settings.max_num_seqs, settings.max_num_batched_tokens)),
        element(layout::bits(settings.dtype) / 8),
        tp(std::max<uint64_t>(settings.tensor_parallel, 1)),
        vocabulary(round_up(model.vocab_size, kVocabularyPadding)) {
    if (settings.v0_engine && profiles_items(model, settings)) hold_prompts(model, settings);
    hidden = mul(mul(tokens, model.hidden_size), element);
  }

  void hold_prompts(const ModelShape& model, const EngineSettings& settings) {
    const uint64_t prompt =
        mul(images_of_prompt(model, settings), largest_image(model, settings).item_tokens);
    if (prompt == 0) return;
    sequences = std::clamp<uint64_t>(tokens / prompt, 1, std::max<uint64_t>(sequences, 1));
    tokens = std::max(tokens, mul(sequences, prompt));
  }

  uint64_t tokens;
  uint64_t sequences;
  uint64_t element;  ///< bytes
  uint64_t tp;
  uint64_t vocabulary;
  uint64_t hidden = 0;  ///< bytes of one hidden state of every token
};

uint64_t sampling_bytes(const ModelShape& model, const Batch& batch, const ProfileRules& rules,
                        const GpuMemory& gpu) {
  const uint64_t entries = mul(batch.sequences, batch.vocabulary);
  const uint64_t logits = mul(entries, batch.element);
  // The states that are sampled from, and the random ones that replace them in the dummy run.
  const uint64_t sampled = mul(mul(batch.sequences, model.hidden_size), 2 * batch.element);
  uint64_t bytes =
      add(add(batch.hidden, sampled), add(logits, scaled(entries, rules.sampler_bytes)));
  if (rules.sampler_rows) {
    const uint64_t rows = std::min<uint64_t>(multiprocessors(gpu), batch.sequences);
    bytes = add(bytes, mul(mul(rows, batch.vocabulary), kFloatBytes));
  }
  return bytes;
}

// TritonExperts.workspace_shapes in vllm/model_executor/layers/fused_moe/fused_moe.py.
uint64_t expert_workspace(const ModelShape& model, const EngineSettings& settings,
                          const Batch& batch, bool stays) {
  if (model.num_experts == 0) return 0;
  const uint64_t width = model.moe_intermediate_size / (settings.expert_parallel ? 1 : batch.tp);
  const uint64_t first = std::max<uint64_t>(mul(2, width), model.hidden_size);
  const uint64_t second = stays ? std::max<uint64_t>(width, model.hidden_size) : width;
  return mul(mul(mul(batch.tokens, model.experts_per_token), add(first, second)), batch.element);
}

uint64_t forward_bytes(const ModelShape& model, const EngineSettings& settings, const Batch& batch,
                       const ProfileRules& rules) {
  // Where every layer has experts, configs give their width as the dense one too.
  const bool dense =
      model.num_experts == 0 || model.intermediate_size != model.moe_intermediate_size;
  const uint64_t width = dense ? model.intermediate_size / batch.tp : 0;
  const uint64_t mlp = mul(mul(batch.tokens, mul(3, width)), batch.element);
  const uint64_t experts = rules.experts_stay ? 0 : expert_workspace(model, settings, batch, false);
  return add(std::max(mlp, experts), scaled(batch.hidden, rules.hidden_widths));
}

// What a profile run allocates and never frees.
uint64_t lasting_bytes(const ModelShape& model, const EngineSettings& settings, const Batch& batch,
                       const ProfileRules& rules, const GpuMemory& gpu) {
  const uint64_t experts = rules.experts_stay ? expert_workspace(model, settings, batch, true) : 0;
  return add(cublas_workspace_bytes(gpu), experts);
}

// MultiModalBudget: as many of the largest items as the batch holds, at least one; all of its
// prompts on V0. Their inputs and what the encoder makes of them stay for the whole run.
struct EncoderRun {
  EncoderRun(const ModelShape& model, const EngineSettings& settings, const Batch& batch) {
    const EncoderProfile item = largest_image(model, settings);
    if (!profiles_items(model, settings)) return;
    const uint64_t largest = std::max<uint64_t>(video_pairs(model, settings), 1);
    const uint64_t whole =
        mul(std::max<uint64_t>(batch.tokens / mul(item.item_tokens, largest), 1), largest);
    const uint64_t items =
        settings.v0_engine ? mul(batch.sequences, images_of_prompt(model, settings)) : whole;
    // As the processor leaves them, until 0.9.1 casts them (PRs 18756, 18862).
    const uint64_t element = settings.release.at_least(9, 1) ? batch.element : kFloatBytes;
    inputs = add(mul(mul(items, item.item_inputs), element), item.kept_bytes);
    const uint64_t tokens = std::max(mul(items, item.item_tokens), video_room(model, settings));
    outputs = mul(mul(mul(tokens, item.output_widths), model.hidden_size), batch.element);
    peak =
        mul(mul(items, item.item_peak), batch.element) / (settings.whole_encoders ? 1 : batch.tp);
  }
  uint64_t inputs = 0;  ///< bytes, with what the tower keeps
  uint64_t outputs = 0;
  uint64_t peak = 0;  ///< of the encoder itself
};

uint64_t embedding_copy(const ModelShape& model, const EngineSettings& settings, const Batch& batch,
                        uint32_t stage) {
  constexpr uint64_t kBeside = 16 * kMiB;
  // Multimodal models look their embeddings up outside the compiled part.
  if (settings.enforce_eager || model.multimodal || stage != 0) return 0;
  return add(mul(mul(batch.vocabulary / batch.tp, model.hidden_size), batch.element), kBeside);
}

// How far off the peak may be, as a share.
double trust_in(const ModelShape& model, const EngineSettings& settings, const ProfileRules& rules,
                bool forward) {
  double share = rules.trust;
  if (forward) share = std::max(share, 0.15);
  if (model.num_experts != 0) share = std::max(share, 0.03);
  if (model.multimodal) {
    const bool silent = rules.skips_encoders || !settings.profile_encoders ||
                        !(settings.vision_encoder || settings.audio_encoder);
    const bool known = (model.encoder.item_tokens != 0 || silent) && !settings.v0_engine;
    share = std::max(share, known ? 0.03 : 0.15);
  }
  return share;
}

Interval peak_of(const ModelShape& model, const EngineSettings& settings, const GpuMemory& gpu,
                 uint32_t stage, const Fitted& fitted) {
  const ProfileRules rules = profile_rules(runner_of(model, settings), settings.release);
  const Batch batch(model, settings);
  const bool last = stage + 1 >= settings.pipeline_parallel;
  const uint64_t forward = forward_bytes(model, settings, batch, rules);
  const uint64_t sampling = last ? sampling_bytes(model, batch, rules, gpu) : 0;

  const EncoderRun encoder(model, settings, batch);
  const uint64_t lasting = lasting_bytes(model, settings, batch, rules, gpu);
  uint64_t beside = add(scaled(kMiB, fitted.activation_mib), lasting);
  beside = add(beside, add(encoder.inputs, encoder.outputs));
  // Received: hidden states and residual. Handed on: those and the output buffer.
  if (settings.pipeline_parallel > 1) beside = add(beside, mul(batch.hidden, last ? 2 : 3));

  const uint64_t decoder = add(std::max(forward, sampling), beside);
  const uint64_t tower = add(add(encoder.inputs, encoder.peak), cublas_workspace_bytes(gpu));
  const uint64_t warm = std::max(decoder, tower);
  const uint64_t copy = embedding_copy(model, settings, batch, stage);
  const uint64_t cold = rules.compiler_copies ? std::max(warm, copy) : warm;
  // Of a tower, the tensors alive in its widest layer are known by their widths alone.
  constexpr double kTowerTrust = 0.2;
  const double known = trust_in(model, settings, rules, forward > sampling);
  const double trust = tower > decoder ? std::max(known, kTowerTrust) : known;
  const uint64_t slack = 6 * kMiB;
  return {less(scaled(warm, 1.0 - trust), slack), cold, add(scaled(cold, 1.0 + trust), slack)};
}

}  // namespace

Interval activation_peak(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu, uint32_t stage, const Fitted& fitted) {
  const Interval peak = peak_of(model, settings, gpu, stage, fitted);
  if (!settings.release_assumed) return peak;
  // Nobody says which release it is: the newest, or one of the last to profile the sampler.
  EngineSettings earlier = settings;
  earlier.release = kLastWithSampler;
  const Interval other = peak_of(model, earlier, gpu, stage, fitted);
  return {std::min(peak.low, other.low), peak.best, std::max(peak.high, other.high)};
}

LargestItem largest_item(const ModelShape& model, const EngineSettings& settings) {
  if (!profiles_items(model, settings)) return {};
  const uint64_t pairs = video_pairs(model, settings);
  return {mul(largest_image(model, settings).item_tokens, std::max<uint64_t>(pairs, 1)), pairs > 1};
}

Interval sampler_warm_up(const ModelShape& model, const EngineSettings& settings,
                         const GpuMemory& gpu) {
  // The V0 engine has none.
  if (settings.v0_engine) return {};
  const ProfileRules rules = profile_rules(runner_of(model, settings), settings.release);
  const Batch batch(model, settings);
  const uint64_t lasting = lasting_bytes(model, settings, batch, rules, gpu);
  if (rules.warm_up_bytes == 0.0) {
    return Interval::exact(add(sampling_bytes(model, batch, rules, gpu), lasting));
  }
  // Every request brings the tokens of one step and one more (vllm/v1/worker/gpu/warmup.py).
  const uint64_t step = 1 + uint64_t{settings.num_speculative_tokens};
  const uint64_t requests = std::min<uint64_t>(batch.sequences, batch.tokens / (step + 1));
  const uint64_t entries = mul(mul(requests, step), model.vocab_size);
  // Rejection sampling of drafts keeps logits and a float32 copy of them.
  const double bytes = step > 1 ? 6.0 : rules.warm_up_bytes;
  return {add(scaled(entries, bytes), lasting), add(scaled(entries, bytes), lasting),
          add(scaled(entries, bytes * 2.0), lasting)};
}

}  // namespace kvbudget::memory
