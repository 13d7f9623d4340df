// Follows EngineArgs.create_engine_config and VllmConfig.__post_init__ of vLLM in the order that
// matters: engine, parallelism, lengths, chunked prefill, batch limits, CUDA graphs. Values and
// the releases they hold in are rows of data/defaults.tsv.
#include "lint/engine/resolve.h"

#include <algorithm>
#include <limits>

#include "lint/engine/cudagraph.h"
#include "lint/engine/defaults.h"
#include "lint/engine/encoder_limits.h"
#include "lint/engine/json_text.h"
#include "lint/engine/numbers.h"
#include "lint/engine/speculation.h"
#include "lint/engine/table.h"

namespace kvbudget {
namespace {

using memory::ElementType;

constexpr uint32_t kMaxCount = std::numeric_limits<uint32_t>::max();
constexpr Version kAutoFit{0, 14, 0};
constexpr Version kLeavesEncodersOut{0, 15, 0};  // _mark_tower_model in models/interfaces.py

uint64_t bounded(uint64_t value) { return std::min<uint64_t>(value, kMaxCount); }

class Resolver {
 public:
  explicit Resolver(const ResolveInput& input)
      : settings_(input.settings),
        input_(input),
        facts_{input.settings, input.version, input.gpu, input.model} {}

  ResolveResult resolve();

 private:
  std::string_view rule(std::string_view name) const {
    return default_value(name, facts_).value_or("");
  }
  bool applies(std::string_view name) const { return !rule(name).empty(); }

  void unreadable(std::string_view name);
  std::optional<uint64_t> given(std::string_view name, int64_t least = 1);
  uint64_t number(std::string_view name);
  uint32_t count(std::string_view name) { return static_cast<uint32_t>(bounded(number(name))); }
  uint32_t ranks(std::string_view name);
  double real(std::string_view name);
  bool is_on(std::string_view name);
  std::string text(std::string_view name);

  void resolve_engine();
  void resolve_parallelism();
  void resolve_speculation();
  void resolve_lora();
  void resolve_length();
  void resolve_dtypes();
  void resolve_plain_caches();
  void resolve_caching();
  void resolve_batch();
  void resolve_graphs();
  void resolve_encoders();

  bool takes_none_of(std::string_view inputs);
  uint64_t default_tokens(uint64_t factor) const;
  bool graphs_are_off();
  uint32_t largest_size();

  const Settings& settings_;
  const ResolveInput& input_;
  DefaultFacts facts_;
  ResolveResult result_;
  memory::EngineSettings& engine_ = result_.engine;
};

ResolveResult Resolver::resolve() {
  engine_.release.number = input_.version.minor * 100U + input_.version.patch;
  resolve_speculation();
  resolve_parallelism();
  resolve_dtypes();
  resolve_lora();
  resolve_engine();
  resolve_length();
  resolve_caching();
  resolve_batch();
  resolve_graphs();
  resolve_encoders();
  return std::move(result_);
}

void Resolver::unreadable(std::string_view name) {
  auto& names = result_.unreadable;
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

// The user's number; a value that is no number, or below `least`, is reported and left out.
std::optional<uint64_t> Resolver::given(std::string_view name, int64_t least) {
  if (!settings_.has(name)) return std::nullopt;
  const std::optional<int64_t> value = settings_.integer(name);
  if (value && *value >= least) return static_cast<uint64_t>(*value);
  unreadable(name);
  return std::nullopt;
}

uint64_t Resolver::number(std::string_view name) {
  const std::optional<uint64_t> user = given(name);
  const std::optional<std::string_view> forced = forced_value(name, facts_);
  if (user && !forced) return *user;
  return static_cast<uint64_t>(python_int(forced ? *forced : rule(name)).value_or(0));
}

// GPUs in one direction. An estimate looks at them one by one, so there is none for more than any
// cluster has; what the file says stays what it says.
uint32_t Resolver::ranks(std::string_view name) {
  constexpr uint64_t kMost = 4'096;
  const uint64_t value = std::max<uint64_t>(number(name), 1);
  if (value > kMost) unreadable(name);
  return static_cast<uint32_t>(bounded(value));
}

double Resolver::real(std::string_view name) {
  const double standard = python_float(rule(name)).value_or(0.0);
  if (!settings_.has(name)) return standard;
  const std::optional<double> value = settings_.real(name);
  if (!value) unreadable(name);
  return value.value_or(standard);
}

bool Resolver::is_on(std::string_view name) {
  if (const auto forced = forced_value(name, facts_)) return *forced == "true";
  const Setting* const setting = settings_.find(name);
  if (setting != nullptr && !setting->known) unreadable(name);
  return setting != nullptr && setting->known ? setting->value == "true" : rule(name) == "true";
}

std::string Resolver::text(std::string_view name) {
  if (const Setting* const setting = settings_.find(name)) {
    if (setting->known) return setting->value;
    unreadable(name);
  }
  return std::string(rule(name));
}

void Resolver::resolve_engine() {
  facts_.v1 = rule("(engine)") == "V1";
  result_.v0_engine = !facts_.v1;
}

void Resolver::resolve_parallelism() {
  engine_.tensor_parallel = ranks("tensor-parallel-size");
  engine_.pipeline_parallel = ranks("pipeline-parallel-size");
  engine_.data_parallel = ranks("data-parallel-size");
  engine_.decode_context_parallel = ranks("decode-context-parallel-size");
  engine_.prefill_context_parallel = ranks("prefill-context-parallel-size");
  engine_.expert_parallel = is_on("enable-expert-parallel");
  facts_.pipeline_parallel = engine_.pipeline_parallel;
  facts_.data_parallel = engine_.data_parallel;
}

void Resolver::resolve_speculation() {
  given("num-speculative-tokens", 0);
  std::string unknown;
  const std::optional<Speculation> asked = read_speculation(settings_, &unknown);
  if (!unknown.empty()) unreadable(unknown);
  if (!asked) return;
  facts_.speculation = asked->method;
  // The checkpoint's own layers draft one token each unless more are asked for.
  const bool own = asked->method == "mtp" && facts_.model != nullptr && facts_.model->mtp;
  const uint64_t stated = own ? facts_.model->mtp->steps : asked->method == "mtp" ? 1 : 0;
  engine_.num_speculative_tokens = static_cast<uint32_t>(bounded(asked->tokens.value_or(stated)));
}

void Resolver::resolve_length() {
  const std::optional<int64_t> value = settings_.integer("max-model-len");
  engine_.auto_fit_max_model_len = value == -1 && input_.version >= kAutoFit;
  const std::optional<uint64_t> user =
      engine_.auto_fit_max_model_len ? std::nullopt : given("max-model-len");
  engine_.max_model_len = user.value_or(input_.default_max_model_len);
  facts_.max_model_len = engine_.max_model_len;
}

ElementType dtype_named(std::string_view name, ElementType otherwise) {
  if (name == "half" || name == "float16") return ElementType::kFloat16;
  if (name == "bfloat16") return ElementType::kBFloat16;
  if (name == "float" || name == "float32") return ElementType::kFloat32;
  return otherwise;
}

void Resolver::resolve_dtypes() {
  const ElementType checkpoint = facts_.model ? facts_.model->dtype : ElementType::kBFloat16;
  std::string dtype = text("dtype");
  if (dtype == "auto") dtype = rule("dtype");
  engine_.dtype = dtype_named(dtype, checkpoint);

  std::string cache = text("kv-cache-dtype");
  if (cache == "auto") cache = rule("kv-cache-dtype");
  if (cache == "checkpoint") {
    // A release that does not know what the checkpoint asks for ignores it.
    const std::string& scheme = facts_.model->kv_cache_scheme;
    const bool known = value_problem(*find_flag("kv-cache-dtype"), input_.version, scheme).empty();
    cache = known ? scheme : "model";
  }
  if (cache == "model") cache = layout::name(engine_.dtype);
  engine_.kv_cache_dtype = cache;
  facts_.kv_cache_dtype = cache;
  if (settings_.has("kv-cache-dtype-skip-layers")) resolve_plain_caches();
}

// Indices of layers, and "sliding_window".
void Resolver::resolve_plain_caches() {
  const std::string words = text("kv-cache-dtype-skip-layers");
  for (const std::string_view word : split(words, ' ')) {
    const std::optional<int64_t> layer = python_int(word);
    if (layer && *layer >= 0) {
      const auto index = static_cast<uint32_t>(bounded(static_cast<uint64_t>(*layer)));
      engine_.plain_caches.layers.push_back(index);
    }
    if (word == "sliding_window") engine_.plain_caches.windows = true;
  }
}

// Defaults of LoRAConfig, vllm/config/lora.py; extra words are gone from 0.12.
void Resolver::resolve_lora() {
  if (!is_on("enable-lora")) return;
  memory::LoraSlots& lora = engine_.lora;
  constexpr uint64_t kSlots = 1;
  constexpr uint64_t kRank = 16;
  constexpr uint64_t kExtraWords = 256;
  constexpr Version kNoExtraWords{0, 12, 0};
  lora.slots = static_cast<uint32_t>(bounded(given("max-loras").value_or(kSlots)));
  lora.rank = static_cast<uint32_t>(bounded(given("max-lora-rank").value_or(kRank)));
  lora.fully_sharded = is_on("fully-sharded-loras");
  lora.shared_experts = is_on("enable-moe-shared-loras");
  if (input_.version < kNoExtraWords) {
    const uint64_t words = given("lora-extra-vocab-size", 0).value_or(kExtraWords);
    lora.extra_vocabulary = static_cast<uint32_t>(bounded(words));
  }
  lora.type = dtype_named(settings_.text("lora-dtype"), engine_.dtype);
}

void Resolver::resolve_caching() {
  const double share = real("gpu-memory-utilization");
  // CacheConfig takes 0 < share <= 1 and nothing else.
  if (!(share > 0.0 && share <= 1.0)) unreadable("gpu-memory-utilization");
  engine_.gpu_memory_utilization = share;
  engine_.kv_cache_memory_bytes = given("kv-cache-memory-bytes");
  engine_.num_gpu_blocks_override = given("num-gpu-blocks-override", 0);
  engine_.cpu_offload_gib = real("cpu-offload-gb");
  facts_.block_tokens = given("block-size").value_or(facts_.block_tokens);
  engine_.block_tokens = count("block-size");
  engine_.prefix_caching = is_on("enable-prefix-caching");
  facts_.prefix_caching = engine_.prefix_caching;
  engine_.hybrid_kv_cache_manager = !is_on("disable-hybrid-kv-cache-manager");
  engine_.mamba_cache_mode = text("mamba-cache-mode");
  engine_.async_scheduling = is_on("async-scheduling");
}

uint64_t Resolver::default_tokens(uint64_t factor) const {
  uint64_t tokens =
      static_cast<uint64_t>(python_int(rule("max-num-batched-tokens")).value_or(0)) * factor;
  if (!facts_.chunked_prefill) {
    const bool longest = rule("(tokens-without-chunks)") == "longest";
    tokens = longest ? facts_.max_model_len : std::max(facts_.max_model_len, tokens);
  }
  tokens =
      std::max(tokens, static_cast<uint64_t>(python_int(rule("(tokens-at-least)")).value_or(0)));
  const uint64_t sequences = engine_.max_num_seqs;
  const bool limited = applies("(tokens-cover-sequences)") && facts_.max_model_len > 0;
  // Divided instead of multiplied: the product may not fit.
  if (limited && tokens / facts_.max_model_len >= sequences) {
    tokens = sequences * facts_.max_model_len;
  }
  return tokens;
}

void Resolver::resolve_batch() {
  facts_.chunked_prefill = is_on("enable-chunked-prefill");
  result_.chunked_prefill = facts_.chunked_prefill;
  const auto factor = static_cast<uint64_t>(python_int(rule("(batch-factor)")).value_or(1));
  const bool own_sequences = !settings_.has("max-num-seqs");
  engine_.max_num_seqs = count("max-num-seqs");
  if (own_sequences) engine_.max_num_seqs *= static_cast<uint32_t>(factor);
  const std::optional<uint64_t> tokens = given("max-num-batched-tokens");
  engine_.max_num_batched_tokens =
      static_cast<uint32_t>(bounded(tokens ? *tokens : default_tokens(factor)));
  if (own_sequences && applies("(sequences-fit-tokens)")) {
    engine_.max_num_seqs = std::min(engine_.max_num_seqs, engine_.max_num_batched_tokens);
  }
}

// {"image": 0, "video": {"count": 0}}; what is not named has no limit.
bool Resolver::takes_none_of(std::string_view inputs) {
  if (inputs.empty() || input_.version < kLeavesEncodersOut) return false;
  if (is_on("language-model-only")) return true;
  const Setting* const setting = settings_.find("limit-mm-per-prompt");
  if (setting != nullptr && !setting->known) unreadable("limit-mm-per-prompt");
  const std::string limits = settings_.text("limit-mm-per-prompt");
  while (!inputs.empty()) {
    const size_t comma = std::min(inputs.find(','), inputs.size());
    if (item_limit(limits, inputs.substr(0, comma)) != 0) return false;
    inputs.remove_prefix(std::min(comma + 1, inputs.size()));
  }
  return true;
}

void Resolver::resolve_encoders() {
  engine_.profile_encoders = !is_on("skip-mm-profiling");
  if (!is_on("language-model-only")) {
    const std::string limits = settings_.text("limit-mm-per-prompt");
    engine_.images_per_prompt = item_limit(limits, "image");
    engine_.videos_per_prompt = item_limit(limits, "video");
  } else {
    engine_.images_per_prompt = engine_.videos_per_prompt = 0;
  }
  engine_.max_image_pixels = max_image_pixels(settings_.text("mm-processor-kwargs"));
  if (facts_.model == nullptr) return;
  engine_.vision_encoder = !takes_none_of(facts_.model->vision_inputs);
  engine_.audio_encoder = !takes_none_of(facts_.model->audio_inputs);
  const bool data =
      text("mm-encoder-tp-mode") == "data" || is_on("enable-multimodal-encoder-data-parallel");
  engine_.whole_encoders = data && facts_.model->whole_encoders;
}

// Graphs need the compiler at full strength, unless the graph mode itself is set.
bool Resolver::graphs_are_off() {
  if (engine_.enforce_eager) return true;
  const std::string config = settings_.text("compilation-config");
  if (const auto mode = json_member(config, "cudagraph_mode"))
    return *mode == "NONE" || *mode == "0";
  if (json_member(config, "use_cudagraph") == "false") return true;
  for (const std::string_view key : {"mode", "level"}) {
    const std::optional<std::string> level = json_member(config, key);
    if (level && *level != "3" && *level != "VLLM_COMPILE") return true;
  }
  const std::optional<int64_t> bare = python_int(config);
  if (bare && facts_.v1) return *bare < 3;
  return settings_.integer("optimization-level") == 0;
}

uint32_t Resolver::largest_size() {
  if (const auto user = stated_largest_capture(settings_))
    return static_cast<uint32_t>(bounded(*user));
  const uint64_t cap = number("max-cudagraph-capture-size");
  const std::string_view limit = rule("(capture-limit)");
  const uint64_t sequences = engine_.max_num_seqs;
  if (limit == "sequences") return static_cast<uint32_t>(bounded((sequences + 7) / 8 * 8));
  if (limit == "twice-sequences") return static_cast<uint32_t>(std::min(2 * sequences, cap));
  if (limit == "twice-speculative-sequences") {
    const uint64_t width = 1 + uint64_t{engine_.num_speculative_tokens};
    return static_cast<uint32_t>(std::min(2 * sequences * width, cap));
  }
  return static_cast<uint32_t>(bounded(cap));
}

void Resolver::resolve_graphs() {
  engine_.enforce_eager = is_on("enforce-eager");
  if (const Setting* const config = settings_.find("compilation-config")) {
    const bool level = python_int(config->value).has_value();
    if (!config->known || (!level && !is_json_object(config->value))) {
      unreadable("compilation-config");
    }
  }
  if (graphs_are_off()) return;
  if (const std::optional<std::vector<int64_t>> sizes = stated_capture_sizes(settings_)) {
    const auto largest = std::max_element(sizes->begin(), sizes->end());
    if (largest == sizes->end() || *largest <= 0) return;
    engine_.cudagraph_sizes = static_cast<uint32_t>(bounded(sizes->size()));
    engine_.max_cudagraph_size = static_cast<uint32_t>(bounded(static_cast<uint64_t>(*largest)));
    return;
  }
  CaptureRules rules;
  rules.largest = largest_size();
  rules.most_tokens = facts_.v1 ? engine_.max_num_batched_tokens : rules.largest;
  rules.wide_step = applies("(capture-wide-step)");
  rules.every_size_to =
      static_cast<uint32_t>(python_int(rule("(capture-every-small-size)")).value_or(0));
  if (applies("(capture-batched-tokens)")) rules.extra.push_back(engine_.max_num_batched_tokens);
  if (applies("(capture-max-sequences)")) rules.extra.push_back(engine_.max_num_seqs);
  if (applies("(capture-speculative-sizes)")) {
    rules.tokens_per_step = 1 + engine_.num_speculative_tokens;
  }
  const std::vector<uint32_t> sizes = capture_sizes(rules);
  engine_.cudagraph_sizes = static_cast<uint32_t>(sizes.size());
  engine_.max_cudagraph_size = sizes.empty() ? 0 : sizes.back();
}

}  // namespace

ResolveResult resolve(const ResolveInput& input) { return Resolver(input).resolve(); }

}  // namespace kvbudget
