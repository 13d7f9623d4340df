// Flags: kserve python/kserve/kserve/model_server.py and python/huggingfaceserver/__main__.py,
// August 2026; the rest is added by vLLM's own parser.

#include "lint/read/kserve_arguments.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "lint/read/text.h"

namespace kvbudget {
namespace {

struct Renamed {
  std::string_view name;
  std::string_view vllm;
};
constexpr std::array<Renamed, 5> kRenamed = {{{"model-id", "--model"},
                                              {"model-dir", "--model"},
                                              {"model-name", "--served-model-name"},
                                              {"model-revision", "--revision"},
                                              {"http-port", "--port"}}};

constexpr std::array<std::string_view, 30> kOwn = {"access-log-format",
                                                   "backend",
                                                   "configure-logging",
                                                   "disable-lower-case",
                                                   "disable-special-tokens",
                                                   "enable-docs-url",
                                                   "enable-grpc",
                                                   "enable-latency-logging",
                                                   "enable-predictor-health-check",
                                                   "event-loop",
                                                   "grpc-max-receive-message-length",
                                                   "grpc-max-send-message-length",
                                                   "grpc-port",
                                                   "log-config-file",
                                                   "max-asyncio-workers",
                                                   "max-length",
                                                   "max-threads",
                                                   "predictor-host",
                                                   "predictor-protocol",
                                                   "predictor-request-retries",
                                                   "predictor-request-timeout-seconds",
                                                   "predictor-use-ssl",
                                                   "protocol",
                                                   "return-offsets-mapping",
                                                   "return-probabilities",
                                                   "return-raw-logits",
                                                   "return-token-type-ids",
                                                   "tensor-input-names",
                                                   "timeout-keep-alive",
                                                   "workers"};

/// The flag of `--max_length=5` with dashes: "max-length". Empty for other words.
std::string flag_of(const Word& word) {
  std::string_view text = word.text.view();
  if (!text.starts_with("--")) return {};
  text.remove_prefix(2);
  return with_dashes(text.substr(0, text.find('=')));
}

size_t value_at(const Word& word) { return word.text.view().find('='); }

/// Index behind the flag at `i` and its values.
size_t skip_flag(const std::vector<Word>& words, size_t i) {
  const bool glued = value_at(words[i]) != std::string_view::npos;
  for (++i; !glued && i < words.size() && !words[i].text.view().starts_with('-');) ++i;
  return i;
}

/// `--model_id=org/name` as `--model` `org/name`.
void rename(const Word& word, std::string_view flag, std::vector<Word>& out) {
  const size_t equals = value_at(word);
  const size_t end = equals == std::string_view::npos ? word.text.size() : equals;
  SourceText name = SourceText::empty_at(word.text.file(), word.text.location().range);
  name.append_synthetic(flag, word.text.offset(0));
  out.push_back({std::move(name), true});
  if (end < word.text.size()) out.push_back({word.text.substr(end + 1), word.known});
}

}  // namespace

std::vector<Word> without_server_flags(const std::vector<Word>& words) {
  std::vector<Word> result;
  for (size_t i = 0; i < words.size();) {
    const std::string flag = flag_of(words[i]);
    if (std::find(kOwn.begin(), kOwn.end(), flag) != kOwn.end()) {
      i = skip_flag(words, i);
      continue;
    }
    const auto other = std::find_if(kRenamed.begin(), kRenamed.end(),
                                    [&](const Renamed& row) { return row.name == flag; });
    if (other != kRenamed.end()) {
      rename(words[i], other->vllm, result);
    } else {
      result.push_back(words[i]);
    }
    ++i;
  }
  return result;
}

bool choose_other_backend(const std::vector<Word>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (flag_of(words[i]) != "backend") continue;
    const size_t equals = value_at(words[i]);
    std::string_view value = i + 1 < words.size() ? words[i + 1].text.view() : std::string_view();
    if (equals != std::string_view::npos) value = words[i].text.view().substr(equals + 1);
    return value != "vllm" && value != "auto";
  }
  return false;
}

}  // namespace kvbudget
