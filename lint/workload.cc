#include "lint/workload.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "lint/own_keys.h"

namespace kvbudget {
namespace {

struct Key {
  std::string_view name;
  std::optional<double> Workload::*field;
};
constexpr std::array<Key, 9> kKeys = {{
    {"concurrency", &Workload::concurrency},
    {"prompt-tokens", &Workload::prompt_tokens},
    {"output-tokens", &Workload::output_tokens},
    {"prompt-tokens-p95", &Workload::prompt_tokens_p95},
    {"output-tokens-p95", &Workload::output_tokens_p95},
    {"shared-prefix-tokens", &Workload::shared_prefix_tokens},
    {"ttft-seconds", &Workload::ttft_seconds},
    {"tokens-per-second", &Workload::tokens_per_second},
    {"load-gib-per-second", &Workload::load_gib_per_second},
}};
constexpr double kMost = 1e9;

std::vector<std::string_view> names() {
  std::vector<std::string_view> result;
  for (const Key& key : kKeys) result.push_back(key.name);
  return result;
}

/// `a: 1, b: 2` is a flow mapping without its brackets.
SourceText with_brackets(const SourceText& text) {
  const std::string_view view = text.view();
  const size_t first = view.find_first_not_of(" \t");
  const bool mapping = view.find('\n') != std::string_view::npos ||
                       (first != std::string_view::npos && view[first] == '{');
  if (mapping || text.file() == nullptr) return text;
  const ByteRange range = text.location().range;
  SourceText result = SourceText::empty_at(text.file(), range);
  result.append_synthetic("{", range.begin);
  result.append(text);
  result.append_synthetic("}", range.end);
  return result;
}

}  // namespace

void read_workload(const Node& mapping, Workload& workload, std::vector<SyntaxError>& faults) {
  if (!mapping.is_mapping()) {
    faults.push_back({mapping.where, "expected the load by name: " + std::string(kKeys[0].name) +
                                         ", " + std::string(kKeys[1].name) + " …"});
    return;
  }
  for (const Entry& entry : mapping.entries) {
    const auto key = std::find_if(kKeys.begin(), kKeys.end(),
                                  [&](const Key& k) { return k.name == entry.key.view(); });
    if (key == kKeys.end()) {
      faults.push_back({entry.key.location(), unknown_key(entry.key.view(), names())});
      continue;
    }
    BoundedNumber number = bounded_number(*entry.value, 0.0, kMost);
    if (number.error.empty()) {
      workload.*key->field = number.value;
    } else {
      faults.push_back({entry.value->where, std::move(number.error)});
    }
  }
}

void read_workload(const SourceText& annotation, Workload& workload,
                   std::vector<SyntaxError>& faults) {
  const Document document = parse_yaml(with_brackets(annotation));
  faults.insert(faults.end(), document.errors.begin(), document.errors.end());
  for (const NodePtr& root : document.roots) read_workload(*root, workload, faults);
}

void merge(Workload& into, const Workload& from) {
  for (const Key& key : kKeys) {
    if (from.*key.field) into.*key.field = from.*key.field;
  }
}

}  // namespace kvbudget
