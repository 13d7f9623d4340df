// The readers of single formats. read.cc holds the table of them.
#pragma once

#include <string_view>
#include <vector>

#include "lint/read/document.h"
#include "lint/read/engine_start.h"

namespace kvbudget {

/// How much of a file is looked at. Aliases share nodes, so a small file can unfold without end.
class WorkLimit {
 public:
  /// Pays for looking at `node` and all below it; false when the file has used up its share.
  bool spend_on(const Node& node);
  bool spend(uint64_t bytes);

 private:
  uint64_t bytes_ = uint64_t{64} << 20;
};

/// What a look through the documents of a file costs, for each.
constexpr uint64_t kRootBytes = 16;

/// The YAML documents of one file; readers look at one and may need its siblings (ConfigMaps).
struct YamlFile {
  const SourceFile& file;
  const std::vector<NodePtr>& roots;
  WorkLimit& limit;
};

/// Each takes one document, adds the engines it finds, and returns whether it was of its format;
/// later readers are not asked then.
bool read_kubernetes(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_aibrix(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_json_patch(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_kthena(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_kustomization(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_llmaz(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_ome(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_kserve(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_llm_inference_service(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_manifest_list(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_compose(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_chart_values(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_helm_release(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_kaito(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_kubeai_catalog(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_kubeai_model(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_modelservice(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_production_stack(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_dynamo(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_dynamo_config(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_ray_service(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_ray_job(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_ray_serve_config(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_skypilot(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_dstack(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_vllm_recipe(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_srt_slurm(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_llmd_recipe(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_model_table(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_omni_stages(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_llmd_benchmark(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_pipeline(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_serving_tests(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_ecs(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_server_args(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_vllm_config(const YamlFile& yaml, const Node& root, FileContents& out);
bool read_vllm_runtime(const YamlFile& yaml, const Node& root, FileContents& out);

/// Asks the readers above in turn; for documents that hold other documents (lists, templates).
bool read_yaml_document(const YamlFile& yaml, const Node& root, FileContents& out);

/// vLLM config files inside a ConfigMap; asked when a file holds no other engine.
void read_config_map(const YamlFile& yaml, const Node& root, FileContents& out);

/// By name: YAML, JSON and their templates.
bool is_yaml_name(std::string_view path);

/// Whole files that are no YAML.
bool is_shell_script(const SourceFile& file);
void read_shell_script(const SourceFile& file, FileContents& out);
bool is_llmd_scenario(const SourceFile& file);
void read_llmd_scenario(const SourceFile& file, FileContents& out);
bool is_dockerfile(const SourceFile& file);
void read_dockerfile(const SourceFile& file, FileContents& out);
bool is_terraform(const SourceFile& file);
void read_terraform(const SourceFile& file, FileContents& out);
bool is_makefile(const SourceFile& file);
void read_makefile(const SourceFile& file, FileContents& out);
bool is_python_script(const SourceFile& file);
void read_python_script(const SourceFile& file, FileContents& out);
bool is_systemd_unit(const SourceFile& file);
void read_systemd_unit(const SourceFile& file, FileContents& out);

}  // namespace kvbudget
