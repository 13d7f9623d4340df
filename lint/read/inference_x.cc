// Recipes of SemiAnalysisAI/InferenceX that its shell scripts read (2026-07).
//
// benchmarks/multi_node/llm-d-recipes: `prefill` and `decode` with `tp`, `enable-expert-parallel`,
// `extra-args` and `env`; server.sh splits the arguments at blanks and nothing else.
// benchmarks/multi_node/amd_utils/models_vllm.yaml: one entry for each model with `prefill_flags`,
// `decode_flags` and variables in one line.

#include <array>
#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/container.h"
#include "lint/read/flag_words.h"
#include "lint/read/readers.h"
#include "lint/read/shell_words.h"
#include "lint/read/word_builder.h"

namespace kvbudget {
namespace {

constexpr std::array<std::string_view, 2> kRoles = {"prefill", "decode"};

constexpr std::array kRoleFlags = {
    KeyFlag{"tp", "tensor-parallel-size"},
    KeyFlag{"enable-expert-parallel", "enable-expert-parallel", KeyForm::kSwitch}};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/// `read -a`: quotes are characters like others.
void split_at_blanks(const SourceText& text, std::vector<Word>& out) {
  WordBuilder word(out, text.file(), text.offset(0));
  for (size_t i = 0; i < text.size(); ++i) {
    is_blank(text[i]) ? word.split() : word.add(text[i], text.offset(i));
  }
  word.split();
}

EngineStart start_of(const YamlFile& yaml, std::string name, const Location& where) {
  EngineStart start;
  start.file = &yaml.file;
  start.kind = "recipe";
  start.name = std::move(name);
  start.where = where;
  return start;
}

void read_role(const YamlFile& yaml, const Entry& role, FileContents& out) {
  EngineStart start = start_of(yaml, role.key.str(), role.key.location());
  const Node& settings = *role.value;
  add_flags(role.value.get(), kRoleFlags, start.argv);
  if (const Node* extra = settings.find("extra-args")) split_at_blanks(extra->text, start.argv);
  add_variables(settings.find("env"), start.env);
  out.starts.push_back(std::move(start));
}

void add_line_of_variables(const Node* line, std::vector<EnvVar>& env) {
  if (line == nullptr || !line->is_scalar()) return;
  for (const Word& word : split_words(word_of(*line))) {
    if (auto variable = as_assignment(word)) env.push_back(std::move(*variable));
  }
}

/// `models--ORG--NAME`, a folder of the Hub's cache, is the model ORG/NAME.
std::optional<SourceText> cached_model(const Node* folder) {
  constexpr std::string_view kHead = "models--";
  constexpr std::string_view kSlash = "--";
  if (folder == nullptr || folder->scalar().substr(0, kHead.size()) != kHead) return std::nullopt;
  const size_t slash = folder->scalar().find(kSlash, kHead.size());
  if (slash == std::string_view::npos) return std::nullopt;
  SourceText model = folder->text.substr(kHead.size(), slash - kHead.size());
  model.append('/', folder->text.offset(slash));
  model.append(folder->text.substr(slash + kSlash.size()));
  return model;
}

void read_model(const YamlFile& yaml, const Entry& entry, FileContents& out) {
  for (const std::string_view role : kRoles) {
    const Node* flags = entry.value->find(std::string(role) + "_flags");
    if (flags == nullptr || !flags->is_scalar()) continue;
    EngineStart start = start_of(yaml, entry.key.str() + "/" + std::string(role), flags->where);
    if (const auto model = cached_model(entry.value->find("hf_dir"))) {
      start.argv.push_back({*model, true});
    }
    for (Word& word : split_words(word_of(*flags))) start.argv.push_back(std::move(word));
    add_line_of_variables(entry.value->find("env"), start.env);
    add_line_of_variables(entry.value->find(std::string(role) + "_env"), start.env);
    out.starts.push_back(std::move(start));
  }
}

}  // namespace

bool read_llmd_recipe(const YamlFile& yaml, const Node& root, FileContents& out) {
  const auto is_role = [&](std::string_view name) {
    const Node* role = root.find(name);
    return role != nullptr && role->find("extra-args") != nullptr;
  };
  if ((!is_role("prefill") && !is_role("decode")) || !yaml.limit.spend_on(root)) return false;
  for (const std::string_view role : kRoles) {
    if (is_role(role)) read_role(yaml, *root.find_entry(role), out);
  }
  return true;
}

bool read_model_table(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (root.entries.empty() || !yaml.limit.spend_on(root)) return false;
  for (const Entry& entry : root.entries) {
    const bool model = entry.value->find("prefill_flags") != nullptr ||
                       entry.value->find("decode_flags") != nullptr;
    if (!model) return false;
  }
  for (const Entry& entry : root.entries) read_model(yaml, entry, out);
  return true;
}

}  // namespace kvbudget
