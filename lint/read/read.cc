// What a file is, told by its content first and its name second.
//
// A new format of YAML documents is one more line in kYamlReaders, a new kind of file one more
// branch in read_file; everything else lives in the reader's own file.

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "lint/read/readers.h"
#include "lint/read/template_branches.h"
#include "lint/read/vllm_names.h"
#include "lint/read/yaml_template.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxStarts = 500;  // of one file; more are left out

using YamlReader = bool (*)(const YamlFile&, const Node&, FileContents&);

// The first that knows a document takes it.
constexpr std::array kYamlReaders = {
    YamlReader{read_manifest_list},
    YamlReader{read_llmd_recipe},  // beside a Kubernetes object that is none of ours
    YamlReader{read_helm_release},
    YamlReader{read_kubeai_model},
    YamlReader{read_kaito},
    YamlReader{read_vllm_runtime},
    YamlReader{read_production_stack},
    YamlReader{read_modelservice},
    YamlReader{read_llm_inference_service},
    YamlReader{read_kserve},
    YamlReader{read_ome},
    YamlReader{read_aibrix},
    YamlReader{read_kthena},
    YamlReader{read_llmaz},
    YamlReader{read_kustomization},
    YamlReader{read_serving_tests},
    YamlReader{read_json_patch},
    YamlReader{read_dynamo},
    YamlReader{read_ray_service},
    YamlReader{read_ray_job},
    YamlReader{read_ecs},
    YamlReader{read_kubernetes},
    YamlReader{read_compose},
    YamlReader{read_kubeai_catalog},
    YamlReader{read_skypilot},
    YamlReader{read_dstack},
    YamlReader{read_pipeline},
    YamlReader{read_vllm_recipe},
    YamlReader{read_srt_slurm},
    YamlReader{read_llmd_benchmark},
    YamlReader{read_omni_stages},
    YamlReader{read_server_args},
    YamlReader{read_ray_serve_config},
    YamlReader{read_dynamo_config},
    YamlReader{read_model_table},
    YamlReader{read_vllm_config},
    YamlReader{read_chart_values},  // the least particular, hence last
};

/// Kinds of file that are neither YAML nor a script.
struct FileReader {
  bool (*is)(const SourceFile&);
  void (*read)(const SourceFile&, FileContents&);
};
constexpr std::array<FileReader, 6> kFileReaders = {{{is_llmd_scenario, read_llmd_scenario},
                                                     {is_makefile, read_makefile},
                                                     {is_python_script, read_python_script},
                                                     {is_systemd_unit, read_systemd_unit},
                                                     {is_dockerfile, read_dockerfile},
                                                     {is_terraform, read_terraform}}};

void read_yaml(const SourceFile& file, FileContents& out) {
  Document document = parse_yaml(file);
  WorkLimit limit;
  const YamlFile yaml{file, document.roots, limit};
  for (const NodePtr& root : document.roots) read_yaml_document(yaml, *root, out);
  if (out.starts.empty()) {
    for (const NodePtr& root : document.roots) read_config_map(yaml, *root, out);
  }
  // A template is no YAML before it runs: what cannot be read is not an error of its author.
  if (has_template_action(file.bytes())) return mark_conditional_parts(file, out.starts);
  out.errors = std::move(document.errors);
  // Without an engine the file is other people's, and what they tolerate is not ours to report.
  if (out.starts.empty())
    std::erase_if(out.errors, [](const SyntaxError& e) { return e.tolerated; });
}

/// Scripts that bring several machines together before they start the engine: `ray start`, and the
/// helper that vLLM's images carry (examples/online_serving/multi-node-serving.sh).
bool starts_ray(std::string_view bytes) {
  static constexpr std::array<std::string_view, 3> kSigns = {"ray start", "ray_cluster_size",
                                                             "multi-node-serving"};
  return std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
    return bytes.find(sign) != std::string_view::npos;
  });
}

/// Names are identities: the second engine of a script with several is "… #2".
void make_names_unique(std::vector<EngineStart>& starts) {
  std::map<std::string, int> seen;
  for (EngineStart& start : starts) {
    const int count = ++seen[start.name];
    if (count > 1) start.name += " #" + std::to_string(count);
  }
}

FileContents read_known_size(const SourceFile& file) {
  FileContents out;
  const std::string_view bytes = file.bytes();
  if (!mentions_vllm(bytes) || bytes.find('\0') != std::string_view::npos) return out;
  for (const FileReader& reader : kFileReaders) {
    if (!reader.is(file)) continue;
    reader.read(file, out);
    if (!out.starts.empty()) return out;
  }
  const bool script = is_shell_script(file);
  const bool standard_input = script && file.line_text(1).substr(0, 2) != "#!" &&
                              (file.path() == "-" || file.path() == "<stdin>");
  if (is_yaml_name(file.path()) || standard_input) read_yaml(file, out);
  if (script && out.starts.empty()) {
    FileContents shell;
    read_shell_script(file, shell);
    // Standard input that is a script makes a poor YAML file.
    if (!shell.starts.empty() || !standard_input) out = std::move(shell);
  }
  return out;
}

}  // namespace

bool read_yaml_document(const YamlFile& yaml, const Node& root, FileContents& out) {
  return std::any_of(kYamlReaders.begin(), kYamlReaders.end(),
                     [&](YamlReader reader) { return reader(yaml, root, out); });
}

bool is_yaml_name(std::string_view path) {
  static constexpr std::array<std::string_view, 8> kNames = {
      ".yaml", ".yml", ".json", ".tpl", ".tmpl", ".j2", ".jinja", ".template"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view tail) {
    return path.size() > tail.size() && path.substr(path.size() - tail.size()) == tail;
  });
}

FileContents read_file(const SourceFile& file) {
  FileContents out;
  if (file.bytes().size() > kMaxFileBytes) {
    out.errors.push_back({{&file, {0, 0}}, "larger than 16 MiB, which no deployment file is"});
    return out;
  }
  out = read_known_size(file);
  if (out.starts.size() > kMaxStarts) out.starts.resize(kMaxStarts);
  make_names_unique(out.starts);
  if (!out.starts.empty() && starts_ray(file.bytes())) {
    for (EngineStart& start : out.starts) start.joins_ray_cluster = true;
  }
  return out;
}

}  // namespace kvbudget
