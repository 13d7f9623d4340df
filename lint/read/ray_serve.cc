// KubeRay's RayService (ray-operator/apis/ray/v1, 1.4), whose `serveConfigV2` is a Ray Serve config
// file as text, and such files by themselves (`serve deploy`, ray 2.52: `applications`).
// Applications of ray.serve.llm hold an LLMConfig for each engine; others, and the entrypoint of a
// RayJob, are read when their Python script stands in a ConfigMap of the same manifest.

#include <string>

#include "lint/read/config_keys.h"
#include "lint/read/docker_run.h"
#include "lint/read/kubernetes_pod.h"
#include "lint/read/manifest.h"
#include "lint/read/python_engines.h"
#include "lint/read/ray_llm.h"
#include "lint/read/readers.h"
#include "lint/read/shell_words.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 6;  // of an LLMConfig below the arguments of its application

/// Adds every LLMConfig below `node`: builders take them as `llm_configs`, `llm_config`,
/// `prefill_config` and `decode_config`.
void add_llm_configs(const Node& node, const EngineStart& base, int depth, FileContents& out) {
  if (depth > kMaxDepth) return;
  if (is_llm_config(node)) return add_llm_config(node, base, out);
  for (const NodePtr& item : node.items) add_llm_configs(*item, base, depth + 1, out);
  for (const Entry& entry : node.entries) add_llm_configs(*entry.value, base, depth + 1, out);
}

bool is_serve_config(const Node& root) {
  const Node* applications = root.find("applications");
  return applications != nullptr && applications->is_sequence() && !applications->items.empty() &&
         applications->items.front()->find("import_path") != nullptr;
}

/// `num_replicas`, or the least of an autoscaled deployment.
std::optional<Located<uint32_t>> replicas_of(const Node& application) {
  const Node* deployments = application.find("deployments");
  if (deployments == nullptr || deployments->items.size() != 1) return std::nullopt;
  const Node& deployment = *deployments->items.front();
  if (const auto count = number_of(deployment.find("num_replicas"))) return count;
  return number_of(deployment.at({"autoscaling_config", "min_replicas"}));
}

/// The text of a Python file in a ConfigMap of the manifest, by its name in the map.
const Node* find_script(const YamlFile& yaml, std::string_view name) {
  for (const NodePtr& root : yaml.roots) {
    const Node* kind = root->find("kind");
    const Node* data = root->find("data");
    if (kind == nullptr || data == nullptr || kind->scalar() != "ConfigMap") continue;
    const Node* text = data->find(name);
    if (text != nullptr && text->is_scalar() && yaml.limit.spend(16 * text->text.size())) {
      return text;
    }
  }
  return nullptr;
}

void add_script(const SourceText& text, EngineStart base, FileContents& out) {
  base.joins_ray_cluster = true;
  PythonScript script(text);
  script.see(base.env);
  add_python_engines(script, base, out);
}

/// `module:variable` is what a script of the manifest makes, when that has one.
void add_module(const YamlFile& yaml, const Node& application, EngineStart start,
                FileContents& out) {
  const Node* path = application.find("import_path");
  if (path == nullptr) return;
  const std::string_view module = path->scalar().substr(0, path->scalar().find(':'));
  const size_t dot = module.rfind('.');
  const std::string_view name = dot == std::string_view::npos ? module : module.substr(dot + 1);
  const Node* script = find_script(yaml, std::string(name) + ".py");
  if (script == nullptr) return;
  start.replicas = replicas_of(application);
  start.serves_traffic = true;
  add_script(script->text, std::move(start), out);
}

void add_applications(const YamlFile& yaml, const Node& config, const EngineStart& base,
                      FileContents& out) {
  const Node* applications = config.find("applications");
  if (applications == nullptr) return;
  for (const NodePtr& application : applications->items) {
    EngineStart start = base;
    if (const Node* name = application->find("name")) start.name += "/" + name->text.str();
    add_variables(application->at({"runtime_env", "env_vars"}), start.env);
    const size_t before = out.starts.size();
    if (const Node* arguments = application->find("args")) {
      add_llm_configs(*arguments, start, 0, out);
    }
    if (out.starts.size() == before) add_module(yaml, *application, start, out);
  }
}

/// Image, environment and GPUs of the workers; those of the first group that has GPUs, since the
/// head mostly only schedules.
void describe_workers(const Node& cluster, const ConfigMaps& configs, EngineStart& start) {
  const Node* groups = cluster.find("workerGroupSpecs");
  if (groups == nullptr) return;
  bool found = false;
  for (const NodePtr& group : groups->items) {
    const Node* pod = group->at({"template", "spec"});
    const Node* containers = pod == nullptr ? nullptr : pod->find("containers");
    if (containers == nullptr || containers->items.empty()) continue;
    EngineStart worker = start;
    describe_container(*containers->items.front(), *pod, configs, worker);
    if (found && !worker.gpu.count) continue;
    start = std::move(worker);
    found = true;
    if (start.gpu.count) return;
  }
}

EngineStart start_of(const YamlFile& yaml, const Node& root, std::string_view cluster) {
  EngineStart start;
  start.file = &yaml.file;
  start.kind = "ray";
  start.name = std::string(root.find("kind")->scalar());
  start.where = first_key(root);
  if (const Node* name = root.at({"metadata", "name"})) start.name += "/" + name->text.str();
  if (const Node* spec = root.at({"spec", cluster})) {
    describe_workers(*spec, ConfigMaps(yaml), start);
  }
  return start;
}

}  // namespace

bool read_ray_service(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* config = root.at({"spec", "serveConfigV2"});
  if (!is_kind(root, "RayService") || config == nullptr || !yaml.limit.spend_on(root)) return false;
  EngineStart base = start_of(yaml, root, "rayClusterConfig");
  const size_t before = out.starts.size();
  const Document inner = config->is_scalar() ? parse_yaml(config->text) : Document{};
  for (const NodePtr& document : inner.roots) {
    if (yaml.limit.spend_on(*document)) add_applications(yaml, *document, base, out);
  }
  if (config->is_mapping()) add_applications(yaml, *config, base, out);
  return out.starts.size() > before;  // otherwise a container may start the engine itself
}

bool read_ray_job(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* entrypoint = root.at({"spec", "entrypoint"});
  if (!is_kind(root, "RayJob") || entrypoint == nullptr || !yaml.limit.spend_on(root)) return false;
  EngineStart base = start_of(yaml, root, "rayClusterSpec");
  if (const Node* environment = root.at({"spec", "runtimeEnvYAML"})) {
    const Document variables = parse_yaml(environment->text);
    for (const NodePtr& document : variables.roots) {
      add_variables(document->find("env_vars"), base.env);
    }
  }
  const size_t before = out.starts.size();
  add_script_starts(entrypoint->text, ShellScope(), base, out);
  for (const Word& word : split_words(word_of(*entrypoint))) {
    const Node* script = find_script(yaml, base_name(word.text.view()));
    if (script != nullptr) add_script(script->text, base, out);
  }
  return out.starts.size() > before;
}

bool read_ray_serve_config(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (!is_serve_config(root) || !yaml.limit.spend_on(root)) return false;
  EngineStart base;
  base.file = &yaml.file;
  base.kind = "ray";
  base.name = "applications";
  add_applications(yaml, root, base, out);
  return true;
}

}  // namespace kvbudget
