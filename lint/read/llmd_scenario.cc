// Scenarios of llm-d-benchmark as shell scripts (scenarios/**/*.sh until 2026, docs/tutorials):
// they set variables, LLMDBENCH_VLLM_…, of which the tool makes values of the chart
// llm-d-modelservice, or a pod of its own (setup/functions.py and setup/steps/06_, 09_, January
// 2026). REPLACE_ENV_X stands for the value of X, `____` for a blank, and a variable may hold the
// path of a file that a here-document writes. So the values are rebuilt as nodes and read as such.
// The tool's own defaults are not in the file and stay unknown.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "lint/read/container.h"
#include "lint/read/here_documents.h"
#include "lint/read/invocation.h"
#include "lint/read/modelservice.h"
#include "lint/read/rendered.h"
#include "lint/read/shell_words.h"

namespace kvbudget {
namespace {

constexpr std::string_view kPrefix = "LLMDBENCH_";
constexpr std::string_view kModels = "LLMDBENCH_DEPLOY_MODEL_LIST";
constexpr std::string_view kReference = "REPLACE_ENV_";
constexpr int kMaxDepth = 5;                        // of references that hold references
constexpr uint64_t kMaxFilled = uint64_t{4} << 20;  // bytes that references may add up to

bool is_variable_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// "X" of "$X" and "${X}".
std::string_view bare_name(std::string_view text) {
  if (!text.starts_with('$')) return text;
  text.remove_prefix(1);
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  return text;
}

class Scenario {
 public:
  explicit Scenario(const SourceText& script) {
    for (HereDocument& document : here_documents(script)) {
      files_[std::string(bare_name(document.path))] = std::move(document.text);
    }
    read_shell(script, scope_, [](const ShellCommand&, ShellScope&) {});
  }

  bool has(std::string_view name) const { return scope_.find(name) != nullptr; }

  /// The value of a variable, or what the file holds that it names, references filled in.
  NodePtr value(std::string_view name) const {
    const ShellValue* value = scope_.find(name);
    if (value == nullptr) return nullptr;
    if (const SourceText* file = file_of(name, *value)) return scalar_of(filled(*file, 0));
    if (!value->known || value->words.size() != 1 || !value->words[0].known) return nullptr;
    if (value->words[0].text.empty()) return nullptr;
    return scalar_of(filled(value->words[0].text, 0));
  }

  /// The first of these variables that has a value.
  NodePtr first(std::initializer_list<std::string> names) const {
    for (const std::string& name : names) {
      if (NodePtr found = value(name)) return found;
    }
    return nullptr;
  }

 private:
  const SourceText* file_of(std::string_view name, const ShellValue& value) const {
    auto found = files_.find(name);
    if (value.known && value.words.size() == 1) found = files_.find(value.words[0].text.view());
    return found == files_.end() ? nullptr : &found->second;
  }

  /// What is not known stays as the reference that it is.
  SourceText filled(const SourceText& text, int depth) const {
    const std::string_view view = text.view();
    SourceText result = text.substr(0, 0);
    size_t done = 0;
    for (size_t i = view.find('_'); i != view.npos && i < view.size(); i = view.find('_', i)) {
      const bool blank = view.substr(i, 4) == "____";
      const size_t reference = i >= 7 ? i - 7 : view.npos;
      if (blank) {
        result.append(text.substr(done, i - done));
        result.append(' ', text.offset(i));
        done = i += 4;
      } else if (reference != view.npos && reference >= done &&
                 view.substr(reference, kReference.size()) == kReference) {
        result.append(text.substr(done, reference - done));
        done = i = replace(text, reference, depth, result);
      } else {
        ++i;
      }
    }
    result.append(text.substr(done));
    return result;
  }

  /// Replaces the reference at `begin`; where it ends.
  size_t replace(const SourceText& text, size_t begin, int depth, SourceText& out) const {
    size_t end = begin + kReference.size();
    while (end < text.size() && is_variable_char(text[end]) && text.view().substr(end, 4) != "____")
      ++end;
    std::string name(
        text.view().substr(begin + kReference.size(), end - begin - kReference.size()));
    if (name == "LLMDBENCH_DEPLOY_CURRENT_MODEL") name = kModels;
    const ShellValue* value = scope_.find(name);
    const bool known =
        value != nullptr && value->known && value->words.size() == 1 && value->words[0].known &&
        depth < kMaxDepth &&
        (name != kModels || value->words[0].text.view().find(',') == std::string_view::npos);
    if (known && spend(value->words[0].text.size() + 1)) {
      out.append(filled(value->words[0].text, depth + 1));
    } else {
      // As a shell would write it, so that every reader sees that it is not known.
      out.append_synthetic("${" + name + "}", text.offset(begin));
    }
    return end;
  }

  bool spend(uint64_t bytes) const {
    left_ -= std::min(bytes, left_);
    return left_ > 0;
  }

  ShellScope scope_;
  std::map<std::string, SourceText, std::less<>> files_;
  mutable uint64_t left_ = kMaxFilled;
};

/// One of the tool's servers and the prefix of its variables.
struct Role {
  std::string_view name;
  std::string_view prefix;
};

class ScenarioReader {
 public:
  ScenarioReader(const SourceFile& file, const Scenario& scenario, FileContents& out)
      : yaml_{file, no_roots_, limit_}, scenario_(scenario), out_(out) {}

  void read() {
    const NodePtr model = scenario_.value(kModels);
    if (model == nullptr) return;
    // Several models are deployed one after the other.
    model_ = model->scalar().find_first_of(", ") == std::string_view::npos ? model : nullptr;
    read_role({"prefill", "LLMDBENCH_VLLM_MODELSERVICE_PREFILL_"});
    read_role({"decode", "LLMDBENCH_VLLM_MODELSERVICE_DECODE_"});
    read_standalone();
  }

 private:
  NodePtr of(const Role& role, std::string_view what) const {
    return scenario_.value(std::string(role.prefix) + std::string(what));
  }

  NodePtr variables(const Role& role) const {
    NodePtr text = of(role, "ENVVARS_TO_YAML");
    if (text == nullptr) text = scenario_.value("LLMDBENCH_VLLM_COMMON_ENVVARS_TO_YAML");
    if (text == nullptr) return nullptr;
    const Document document = parse_yaml(text->text);
    return document.roots.size() == 1 && document.roots[0]->is_sequence() ? document.roots[0]
                                                                          : nullptr;
  }

  struct Card {
    std::string label;
    NodePtr name;
  };

  /// `nvidia.com/gpu.product:NVIDIA-H100-80GB-HBM3`.
  std::optional<Card> card() const {
    const NodePtr affinity = scenario_.value("LLMDBENCH_VLLM_COMMON_AFFINITY");
    const size_t colon = affinity == nullptr ? std::string::npos : affinity->scalar().find(':');
    if (colon == std::string::npos) return std::nullopt;
    return Card{std::string(affinity->scalar().substr(0, colon)),
                scalar_of(affinity->text.substr(colon + 1))};
  }

  void read_role(const Role& role) {
    const NodePtr arguments = of(role, "EXTRA_ARGS");
    const NodePtr replicas = of(role, "REPLICAS");
    if (arguments == nullptr || has_text(replicas.get(), "0")) return;
    const NodePtr command = of(role, "MODEL_COMMAND");
    const std::optional<Card> label = card();
    const bool custom = has_text(command.get(), "custom");
    const NodePtr container = map_of(
        {{"modelCommand", command == nullptr ? text_at("vllmServe", arguments->where) : command},
         {"name", text_at("vllm", arguments->where)},
         {"command",
          custom ? list_of({text_at("/bin/sh", arguments->where), text_at("-c", arguments->where)})
                 : nullptr},
         {"args", custom ? list_of({arguments}) : words_of(*arguments)},
         {"env", variables(role)}});
    const NodePtr spec =
        map_of({{"replicas", replicas},
                {"parallelism", map_of({{"tensor", of(role, "TENSOR_PARALLELISM")},
                                        {"data", of(role, "DATA_PARALLELISM")},
                                        {"dataLocal", of(role, "DATA_LOCAL_PARALLELISM")},
                                        {"workers", of(role, "NUM_WORKERS_PARALLELISM")}})},
                {"acceleratorTypes",
                 label ? map_of({{"labelKey", text_at(label->label, label->name->where)},
                                 {"labelValues", list_of({label->name})}})
                       : nullptr},
                {"containers", list_of({container})}});
    const NodePtr values =
        map_of({{"multinode", scenario_.value("LLMDBENCH_VLLM_MODELSERVICE_MULTINODE")},
                {"modelArtifacts", artifacts(container->where)},
                {role.name, spec}});
    add(command == nullptr ? arguments->where : command->where,
        [&] { read_modelservice_values(yaml_, *values, out_); });
  }

  NodePtr artifacts(const Location& where) const {
    if (model_ == nullptr) return map_of({{"labels", text_at("", where)}});
    SourceText uri = SourceText::empty_at(model_->text.file(), model_->where.range);
    uri.append_synthetic("hf://", model_->where.range.begin);
    uri.append(model_->text);
    return map_of({{"uri", scalar_of(std::move(uri))}, {"name", model_}});
  }

  /// `[--flag____value]`.
  static NodePtr words_of(const Node& arguments) {
    SourceText text = arguments.text;
    if (text.view().starts_with('[')) text = text.substr(1);
    if (text.view().ends_with(']')) text = text.substr(0, text.size() - 1);
    std::vector<NodePtr> items;
    for (Word& word : split_words({text, true})) {
      if (!word.text.empty()) items.push_back(scalar_of(std::move(word.text)));
    }
    return list_of(std::move(items));
  }

  void read_standalone() {
    const Role role{"standalone", "LLMDBENCH_VLLM_STANDALONE_"};
    const NodePtr arguments = of(role, "ARGS");
    if (arguments == nullptr) return;
    RenderedPod pod(yaml_, "llm-d-benchmark", "standalone", arguments->where);
    pod.is_written = true;
    pod.command = {text_at("/bin/sh", arguments->where), text_at("-c", arguments->where),
                   arguments};
    const NodePtr variables_of_role = variables(role);
    pod.add_variables(variables_of_role.get());
    if (const auto label = card()) pod.node_selector = map_of({{label->label, label->name}});
    pod.resources =
        limits_of("nvidia.com/gpu", scenario_.first({"LLMDBENCH_VLLM_COMMON_ACCELERATOR_NR",
                                                     "LLMDBENCH_VLLM_COMMON_TENSOR_PARALLELISM"}));
    pod.base.replicas = number_of(scenario_.value("LLMDBENCH_VLLM_COMMON_REPLICAS").get());
    add(arguments->where, [&] { read_rendered_pod(yaml_, std::move(pod), out_); });
  }

  /// What the chart's reader adds is this format's; references that stayed are not known.
  template <typename Read>
  void add(const Location& where, Read read) {
    const size_t before = out_.starts.size();
    read();
    for (size_t i = before; i < out_.starts.size(); ++i) {
      EngineStart& start = out_.starts[i];
      start.kind = "llm-d-benchmark";
      if (!start.where) start.where = where;
      mark_unknown_parts(start);
    }
  }

  const std::vector<NodePtr> no_roots_;
  WorkLimit limit_;
  YamlFile yaml_;
  const Scenario& scenario_;
  FileContents& out_;
  NodePtr model_;
};

}  // namespace

bool is_llmd_scenario(const SourceFile& file) {
  const std::string_view bytes = file.bytes();
  return bytes.find(kModels) != std::string_view::npos && bytes.size() <= kMaxScriptBytes;
}

void read_llmd_scenario(const SourceFile& file, FileContents& out) {
  const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
  const Scenario scenario(text);
  ScenarioReader(file, scenario, out).read();
}

}  // namespace kvbudget
