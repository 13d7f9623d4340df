// Names: ai-dynamo/dynamo, components/src/dynamo/vllm/backend_args.py and
// common/configuration/groups/runtime_args.py (2026-08), examples/llm/utils/vllm.py (0.3) for the
// configuration files of before.

#include "lint/read/dynamo_flags.h"

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/flag_words.h"

namespace kvbudget {
namespace {

enum class Takes { kNothing, kWord, kWords };

struct DynamoFlag {
  std::string_view name;
  Takes takes;
};

// Everything that begins with `dyn-` is Dynamo's too.
constexpr std::array kFlags = {
    DynamoFlag{"benchmark-decode-batch-granularity", Takes::kWord},
    DynamoFlag{"benchmark-decode-length-granularity", Takes::kWord},
    DynamoFlag{"benchmark-mode", Takes::kWord},
    DynamoFlag{"benchmark-output-path", Takes::kWord},
    DynamoFlag{"benchmark-points-file", Takes::kWord},
    DynamoFlag{"benchmark-prefill-batch-granularity", Takes::kWord},
    DynamoFlag{"benchmark-prefill-granularity", Takes::kWord},
    DynamoFlag{"benchmark-prefill-kv-read-granularity", Takes::kWord},
    DynamoFlag{"benchmark-timeout", Takes::kWord},
    DynamoFlag{"benchmark-warmup-iterations", Takes::kWord},
    DynamoFlag{"boundary-ratio", Takes::kWord},
    DynamoFlag{"cfg-parallel-size", Takes::kWord},
    DynamoFlag{"conditional-disagg", Takes::kNothing},
    DynamoFlag{"connector", Takes::kWords},
    DynamoFlag{"custom-encoder-class", Takes::kWord},
    DynamoFlag{"custom-jinja-template", Takes::kWord},
    DynamoFlag{"default-video-fps", Takes::kWord},
    DynamoFlag{"diffusion-cache-backend", Takes::kWord},
    DynamoFlag{"diffusion-cache-config", Takes::kWord},
    DynamoFlag{"disaggregation-mode", Takes::kWord},
    DynamoFlag{"discovery-backend", Takes::kWord},
    DynamoFlag{"dump-config-to", Takes::kWord},
    DynamoFlag{"durable-kv-events", Takes::kNothing},
    DynamoFlag{"embedding-frontend-tokenization", Takes::kNothing},
    DynamoFlag{"embedding-transfer-mode", Takes::kWord},
    DynamoFlag{"embedding-worker", Takes::kNothing},
    DynamoFlag{"enable-cache-dit-summary", Takes::kNothing},
    DynamoFlag{"enable-cpu-offload", Takes::kNothing},
    DynamoFlag{"enable-layerwise-offload", Takes::kNothing},
    DynamoFlag{"enable-local-indexer", Takes::kNothing},
    DynamoFlag{"enable-multimodal", Takes::kNothing},
    DynamoFlag{"enable-rl", Takes::kNothing},
    DynamoFlag{"endpoint", Takes::kWord},
    DynamoFlag{"endpoint-types", Takes::kWord},
    DynamoFlag{"engine-config-json", Takes::kWord},
    DynamoFlag{"engine-request-limit", Takes::kWord},
    DynamoFlag{"event-plane", Takes::kWord},
    DynamoFlag{"exclude-tools-when-tool-choice-none", Takes::kNothing},
    DynamoFlag{"flow-shift", Takes::kWord},
    DynamoFlag{"fpm-trace", Takes::kNothing},
    DynamoFlag{"frontend-decoding", Takes::kNothing},
    DynamoFlag{"gms-shadow-mode", Takes::kNothing},
    DynamoFlag{"headless", Takes::kNothing},
    DynamoFlag{"health-check-payload", Takes::kWord},
    DynamoFlag{"is-decode-worker", Takes::kNothing},
    DynamoFlag{"is-prefill-worker", Takes::kNothing},
    DynamoFlag{"kv-state-endpoint", Takes::kWord},
    DynamoFlag{"layerwise-num-gpu-layers", Takes::kWord},
    DynamoFlag{"max-local-prefill-length", Takes::kWord},
    DynamoFlag{"max-prefill-queue-size", Takes::kWord},
    DynamoFlag{"media-output-fs-url", Takes::kWord},
    DynamoFlag{"media-output-http-url", Takes::kWord},
    DynamoFlag{"min-prefill-workers", Takes::kWord},
    DynamoFlag{"mm-prompt-template", Takes::kWord},
    DynamoFlag{"model-express-url", Takes::kWord},
    DynamoFlag{"multimodal-decode-worker", Takes::kNothing},
    DynamoFlag{"multimodal-embedding-cache-capacity-gb", Takes::kWord},
    DynamoFlag{"multimodal-embedding-cache-publisher", Takes::kNothing},
    DynamoFlag{"multimodal-encode-prefill-worker", Takes::kNothing},
    DynamoFlag{"multimodal-encode-worker", Takes::kNothing},
    DynamoFlag{"multimodal-processor", Takes::kNothing},
    DynamoFlag{"multimodal-worker", Takes::kNothing},
    DynamoFlag{"namespace", Takes::kWord},
    DynamoFlag{"omni", Takes::kNothing},
    DynamoFlag{"output-modalities", Takes::kWords},
    DynamoFlag{"prefill-max-new-token-samples", Takes::kWord},
    DynamoFlag{"remote-prefill", Takes::kNothing},
    DynamoFlag{"request-plane", Takes::kWord},
    DynamoFlag{"response-plane", Takes::kWord},
    DynamoFlag{"ring-degree", Takes::kWord},
    DynamoFlag{"route-to-encoder", Takes::kNothing},
    DynamoFlag{"router", Takes::kWord},
    DynamoFlag{"sleep-mode-level", Takes::kWord},
    DynamoFlag{"stage-configs-path", Takes::kWord},
    DynamoFlag{"store-kv", Takes::kWord},
    DynamoFlag{"ulysses-degree", Takes::kWord},
    DynamoFlag{"use-vllm-tokenizer", Takes::kNothing},
    DynamoFlag{"vae-use-slicing", Takes::kNothing},
    DynamoFlag{"vae-use-tiling", Takes::kNothing},
    DynamoFlag{"video-output-dir", Takes::kWord},
};

bool is_flag(std::string_view word) { return word.size() > 2 && word.substr(0, 2) == "--"; }

/// Switches of Dynamo have a negative form.
const DynamoFlag* find(std::string_view name) {
  static constexpr std::array<DynamoFlag, 2> kOwnPrefix = {DynamoFlag{"dyn-", Takes::kWord},
                                                           DynamoFlag{"dyn-", Takes::kNothing}};
  if (name.substr(0, 4) == "dyn-") return &kOwnPrefix[name.find("-enable-") == 3 ? 1 : 0];
  if (name.substr(0, 7) == "no-dyn-") return &kOwnPrefix[1];
  const bool negative = name.substr(0, 3) == "no-";
  const std::string_view bare = negative ? name.substr(3) : name;
  const auto found = std::find_if(kFlags.begin(), kFlags.end(),
                                  [&](const DynamoFlag& flag) { return flag.name == bare; });
  if (found == kFlags.end() || (negative && found->takes != Takes::kNothing)) return nullptr;
  return &*found;
}

/// `--flag`, or `--no-flag`, as a flag without a value.
WrapperFlag switch_of(const Word& word, const DynamoFlag& flag) {
  const bool negative = flag.takes == Takes::kNothing && word.text.view().starts_with("--no-");
  WrapperFlag result;
  result.name = word.text.str().substr(negative ? 5 : 2);
  result.value = word_over(negative ? "false" : "true", word.text).text;
  result.known = word.known;
  return result;
}

}  // namespace

std::vector<Word> without_dynamo_flags(const std::vector<Word>& words,
                                       std::vector<WrapperFlag>& own) {
  std::vector<Word> rest;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text.view();
    const size_t equals = word.find('=');
    const DynamoFlag* flag =
        is_flag(word) ? find(word.substr(2, std::min(equals, word.size()) - 2)) : nullptr;
    if (flag == nullptr) {
      rest.push_back(words[i]);
      continue;
    }
    if (equals != std::string_view::npos) {
      own.push_back({std::string(word.substr(2, equals - 2)), words[i].text.substr(equals + 1),
                     words[i].known});
      continue;
    }
    WrapperFlag& found = own.emplace_back(switch_of(words[i], *flag));
    const auto value_follows = [&] {
      return i + 1 < words.size() && !is_flag(words[i + 1].text.view());
    };
    if (flag->takes != Takes::kNothing && value_follows()) {
      ++i;
      found.value = words[i].text;
      found.known = found.known && words[i].known;
    }
    while (flag->takes == Takes::kWords && value_follows()) {
      ++i;
      found.value.append_synthetic(" ", words[i].text.offset(0));
      found.value.append(words[i].text);
      found.known = found.known && words[i].known;
    }
  }
  return rest;
}

bool is_dynamo_key(std::string_view name) {
  return name == "ServiceArgs" || name == "common-configs" || find(name) != nullptr;
}

}  // namespace kvbudget
