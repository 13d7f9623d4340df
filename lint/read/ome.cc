// OME's ServingRuntime, ClusterServingRuntime and InferenceService: engine and decoder are pods
// whose main container is called `runner`; over several machines there is a leader and `size`
// workers. Source: OME 0.1 (sgl-project/ome), pkg/apis/ome/v1beta1/servingruntime_types.go.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/kubernetes_pod.h"
#include "lint/read/manifest.h"
#include "lint/read/readers.h"

namespace kvbudget {
namespace {

// In a runtime, and in a service over it.
constexpr std::array<std::string_view, 4> kParts = {"engineConfig", "decoderConfig", "engine",
                                                    "decoder"};

class Part {
 public:
  Part(const YamlFile& yaml, const EngineStart& base, FileContents& out)
      : configs_(yaml), base_(base), out_(out) {}

  void read(const Node& part, std::string_view name) {
    EngineStart start = base_;
    start.name += "/" + std::string(name);
    start.replicas = number_of(part.find("minReplicas"));
    if (const Node* leader = part.find("leader"); leader != nullptr && leader->is_mapping()) {
      if (const auto workers = number_of(part.at({"worker", "size"}))) {
        start.nodes = Located<uint32_t>{
            static_cast<uint32_t>(std::min<uint64_t>(uint64_t{workers->value} + 1, UINT32_MAX)),
            workers->where};
      }
      return read_runner(*leader, part, start);
    }
    read_runner(part, part, start);
  }

 private:
  /// `part` holds what leader and workers share.
  void read_runner(const Node& pod, const Node& part, const EngineStart& start) {
    const Node* runner = pod.find("runner");
    if (runner == nullptr || !runner->is_mapping()) return;
    const bool own_nodes = pod.find("nodeSelector") != nullptr || pod.find("affinity") != nullptr;
    read_container(*runner, own_nodes ? pod : part, configs_, start, out_);
  }

  ConfigMaps configs_;
  const EngineStart& base_;
  FileContents& out_;
};

}  // namespace

bool read_ome(const YamlFile& yaml, const Node& root, FileContents& out) {
  const Node* version = root.find("apiVersion");
  const Node* spec = root.find("spec");
  if (version == nullptr || !version->scalar().starts_with("ome.io/")) return false;
  if (spec == nullptr || !yaml.limit.spend_on(root)) return true;
  EngineStart start = object_start(yaml, root, "ome");
  for (const std::string_view name : kParts) {
    const Node* part = spec->find(name);
    if (part != nullptr && part->is_mapping()) Part(yaml, start, out).read(*part, name);
  }
  // One container list, as in KServe, for runtimes without parts.
  const Node* list = spec->find("containers");
  if (list != nullptr && list->is_sequence()) read_pod(*spec, ConfigMaps(yaml), start, out);
  return true;
}

}  // namespace kvbudget
