// Options: those used most in public deployment files (counted in 2026 over 250 of them), spelled
// as in vllm/engine/arg_utils.py and vllm/entrypoints/openai/cli_args.py, 0.20.

#include "lint/read/vllm_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "lint/read/text.h"

namespace kvbudget {
namespace {

// Sorted. Names that other servers use too ("model", "port") are in the second list.
constexpr std::array<std::string_view, 60> kDistinctive = {
    "all2all-backend",
    "async-scheduling",
    "attention-backend",
    "block-size",
    "compilation-config",
    "data-parallel-size",
    "data-parallel-size-local",
    "disable-custom-all-reduce",
    "disable-log-requests",
    "disable-log-stats",
    "distributed-executor-backend",
    "download-dir",
    "ec-transfer-config",
    "enable-auto-tool-choice",
    "enable-chunked-prefill",
    "enable-eplb",
    "enable-expert-parallel",
    "enable-lora",
    "enable-prefix-caching",
    "enforce-eager",
    "gpu-memory-utilization",
    "hf-overrides",
    "kv-cache-dtype",
    "kv-cache-memory-bytes",
    "kv-events-config",
    "kv-transfer-config",
    "limit-mm-per-prompt",
    "mamba-ssm-cache-dtype",
    "max-cudagraph-capture-size",
    "max-loras",
    "max-lora-rank",
    "max-model-len",
    "max-num-batched-tokens",
    "max-num-seqs",
    "max-seq-len-to-capture",
    "mm-processor-cache-gb",
    "mm-processor-kwargs",
    "model-loader-extra-config",
    "moe-backend",
    "no-async-scheduling",
    "no-enable-chunked-prefill",
    "no-enable-prefix-caching",
    "num-gpu-blocks-override",
    "num-scheduler-steps",
    "override-generation-config",
    "pipeline-parallel-size",
    "rope-scaling",
    "served-model-name",
    "speculative-config",
    "speculative-model",
    "stream-interval",
    "swap-space",
    "task",
    "tensor-parallel-size",
    "tokenizer-mode",
    "tool-call-parser",
    "trust-remote-code",
    "use-v2-block-manager",
    "uvicorn-log-level",
    "worker-extension-cls",
};
constexpr std::array<std::string_view, 21> kShared = {
    "api-key",
    "chat-template",
    "config",
    "config-format",
    "convert",
    "cpu-offload-gb",
    "device",
    "disable-access-log-for-endpoints",
    "dtype",
    "generation-config",
    "host",
    "load-format",
    "model",
    "port",
    "quantization",
    "reasoning-parser",
    "revision",
    "runner",
    "seed",
    "tokenizer",
    "tokenizer-revision",
};

// SGLang (server_args.py, 0.5), Text Generation Inference (launcher, 3.3), TensorRT-LLM
// (trtllm-serve, 1.0), which share many of vLLM's names.
constexpr std::array<std::string_view, 24> kForeign = {
    "chunked-prefill-size",
    "context-length",
    "cuda-graph-bs",
    "cuda-graph-max-bs",
    "disable-cuda-graph",
    "disable-radix-cache",
    "disaggregation-mode",
    "disaggregation-transfer-backend",
    "dp-size",
    "enable-dp-attention",
    "ep-size",
    "extra-llm-api-options",
    "max-batch-prefill-tokens",
    "max-input-length",
    "max-input-tokens",
    "max-running-requests",
    "max-total-tokens",
    "mem-fraction-static",
    "model-id",
    "moe-a2a-backend",
    "num-shard",
    "page-size",
    "schedule-conservativeness",
    "tp-size",
};
constexpr std::array<std::string_view, 6> kOtherServers = {
    "sglang", "text-generation-inference", "tensorrt", "trtllm", "lmdeploy", "llama.cpp"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& sorted, std::string_view name) {
  return std::find(sorted.begin(), sorted.end(), with_dashes(name)) != sorted.end();
}

/// "max-model-len" of `--max-model-len=4096`; empty for other words.
std::string_view option_name(std::string_view word) {
  if (word.substr(0, 2) != "--") return {};
  word.remove_prefix(2);
  return word.substr(0, word.find_first_of("=."));
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Repository and tag of an image reference; a digest is dropped.
struct Reference {
  std::string_view repository;
  std::string_view tag;
};

Reference split_reference(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash)) {
    return {image, {}};
  }
  return {image.substr(0, colon), image.substr(colon + 1)};
}

}  // namespace

bool contains_vllm(std::string_view text) {
  constexpr std::string_view kName = "vllm";
  const auto same = [](char a, char b) { return lower(a) == b; };
  return std::search(text.begin(), text.end(), kName.begin(), kName.end(), same) != text.end();
}

bool is_distinctive_option(std::string_view name) { return contains(kDistinctive, name); }

bool is_vllm_option(std::string_view name) {
  return contains(kShared, name) || is_distinctive_option(name);
}

bool is_foreign_option(std::string_view name) { return contains(kForeign, name); }

bool look_like_vllm_arguments(const std::vector<Word>& words) {
  int known = 0;
  int distinctive = 0;
  for (const Word& word : words) {
    const std::string_view name = option_name(word.text.view());
    if (name.empty()) continue;
    if (is_foreign_option(name)) return false;
    if (is_vllm_option(name)) ++known;
    if (is_distinctive_option(name)) ++distinctive;
  }
  return known >= 2 && distinctive >= 1;
}

bool look_like_server_arguments(const std::vector<Word>& words) {
  static constexpr std::array<std::string_view, 7> kSizes = {
      "block-size",   "gpu-memory-utilization", "kv-cache-dtype",      "max-model-len",
      "max-num-seqs", "max-num-batched-tokens", "tensor-parallel-size"};
  const auto count = [&](const auto& names) {
    return std::count_if(words.begin(), words.end(), [&](const Word& word) {
      return contains(names, option_name(word.text.view()));
    });
  };
  return look_like_vllm_arguments(words) && count(kSizes) >= 2 &&
         count(std::array<std::string_view, 2>{"host", "port"}) > 0;
}

bool hold_vllm_option(const std::vector<Word>& words) {
  return std::any_of(words.begin(), words.end(), [](const Word& word) {
    return is_distinctive_option(option_name(word.text.view()));
  });
}

bool mentions_vllm(std::string_view text) {
  if (contains_vllm(text)) return true;
  static constexpr std::array<std::string_view, 12> kTelling = {"kaito.sh/",
                                                                "maxModelLen",
                                                                "gpuMemoryUtilization",
                                                                "tensorParallelSize",
                                                                "max-model-len",
                                                                "max_model_len",
                                                                "tensor-parallel-size",
                                                                "tensor_parallel_size",
                                                                "gpu-memory-utilization",
                                                                "gpu_memory_utilization",
                                                                "kv-cache-dtype",
                                                                "max-num-batched-tokens"};
  return std::any_of(kTelling.begin(), kTelling.end(), [&](std::string_view name) {
    return text.find(name) != std::string_view::npos;
  });
}

ImageKind image_kind(std::string_view image) {
  const std::string_view repository = split_reference(image).repository;
  if (!contains_vllm(repository)) return ImageKind::kOther;
  const size_t slash = repository.rfind('/');
  const std::string_view name =
      slash == std::string_view::npos ? repository : repository.substr(slash + 1);
  const bool openai = name.find("openai") != std::string_view::npos;
  const bool red_hat = repository.find("rhaiis/vllm") != std::string_view::npos;
  return (openai && contains_vllm(name)) || red_hat ? ImageKind::kVllmServer : ImageKind::kVllm;
}

bool runs_engine(std::string_view image) {
  constexpr std::string_view kName = "vllm/vllm-openai";
  const std::string_view repository = split_reference(image).repository;
  return repository == kName || repository.ends_with("/" + std::string(kName));
}

bool is_other_server(std::string_view image) {
  return std::any_of(kOtherServers.begin(), kOtherServers.end(), [&](std::string_view name) {
    return image.find(name) != std::string_view::npos;
  });
}

bool image_runs_serve(std::string_view image) {
  std::string_view tag = split_reference(image).tag;
  if (!tag.empty() && tag[0] == 'v') tag.remove_prefix(1);
  // vllm/docker/Dockerfile: ENTRYPOINT became ["vllm", "serve"] after 0.11.0.
  unsigned parts[3] = {0, 0, 0};
  const char* at = tag.data();
  const char* end = tag.data() + tag.size();
  for (int i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc()) return i == 0;  // no version in the tag: the newest
    at = next;
    if (at == end || *at != '.') break;
    ++at;
  }
  return parts[0] > 0 || parts[1] > 11 || (parts[1] == 11 && parts[2] > 0);
}

}  // namespace kvbudget
