// Serving benchmarks of vLLM's own CI (.buildkite/performance-benchmarks/tests/serving-tests*.json,
// run by scripts/run-performance-benchmarks.sh, 0.20): a list of tests, or `tests` with `defaults`
// that each test may override. `server_parameters` become flags of `vllm serve` (underscores are
// dashes, an empty text is a switch), `model` its positional.

#include <algorithm>
#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/flag_words.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

constexpr std::string_view kParameters = "server_parameters";
constexpr std::string_view kVariables = "server_environment_variables";

/// The entries of both, those of `own` in place of `defaults` with the same key.
std::vector<Entry> merged(const Node* defaults, const Node* own) {
  std::vector<Entry> result;
  if (defaults != nullptr) result = defaults->entries;
  if (own == nullptr) return result;
  for (const Entry& entry : own->entries) {
    const auto same = std::find_if(result.begin(), result.end(), [&](const Entry& other) {
      return other.key.view() == entry.key.view();
    });
    same == result.end() ? result.push_back(entry) : void(*same = entry);
  }
  return result;
}

/// Text of a value; an object is passed on as JSON.
Word text_word(const Node& value) {
  if (value.is_scalar()) return word_of(value);
  return {SourceText(*value.where.file, value.where.range), true};
}

void add_parameter(const Entry& entry, EngineStart& start) {
  if (entry.value->kind == Node::Kind::kNull || !entry.value->where) return;
  if (entry.key.view() == "model") {
    start.argv.insert(start.argv.begin(), text_word(*entry.value));
    return;
  }
  std::string flag = "--" + entry.key.str();
  std::replace(flag.begin(), flag.end(), '_', '-');
  start.argv.push_back(word_over(flag, entry.key));
  Word value = text_word(*entry.value);
  if (!value.text.empty()) start.argv.push_back(std::move(value));
}

void read_test(const YamlFile& yaml, const Node& test, const Node* defaults, FileContents& out) {
  const auto default_of = [&](std::string_view key) {
    return defaults == nullptr ? nullptr : defaults->find(key);
  };
  EngineStart start;
  start.file = &yaml.file;
  start.kind = "serving-test";
  start.where = first_key(test);
  const Node* name = test.find("test_name");
  start.name = name == nullptr ? "test" : name->text.str();
  for (const Entry& entry : merged(default_of(kParameters), test.find(kParameters))) {
    add_parameter(entry, start);
  }
  Node variables;
  variables.entries = merged(default_of(kVariables), test.find(kVariables));
  add_variables(&variables, start.env);
  out.starts.push_back(std::move(start));
}

}  // namespace

bool read_serving_tests(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* tests = root.is_sequence() ? &root : root.find("tests");
  if (tests == nullptr || !tests->is_sequence() || !yaml.limit.spend(64)) return false;
  const Node* defaults = root.find("defaults");
  const auto is_test = [&](const NodePtr& item) {
    return item->find("test_name") != nullptr &&
           (item->find(kParameters) != nullptr ||
            (defaults != nullptr && defaults->find(kParameters) != nullptr));
  };
  if (tests->items.empty() || !std::all_of(tests->items.begin(), tests->items.end(), is_test)) {
    return false;
  }
  for (const NodePtr& test : tests->items) {
    const bool paid =
        yaml.limit.spend_on(*test) && (defaults == nullptr || yaml.limit.spend_on(*defaults));
    if (paid) read_test(yaml, *test, defaults, out);
  }
  return true;
}

}  // namespace kvbudget
