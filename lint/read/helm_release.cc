// Values that stand in the resource that installs a chart: Argo CD's Application and
// ApplicationSet (`helm.valuesObject`, `helm.values`, `helm.parameters`), Flux's HelmRelease
// (`spec.values`), the HelmChart of K3s (`spec.valuesContent`), and kustomizations
// (`helmCharts[].valuesInline`).
//
// Fields: argoproj.io/v1alpha1 (Argo CD 3.0, application-crd.yaml), helm.toolkit.fluxcd.io/v2,
// helm.cattle.io/v1.

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/manifest.h"
#include "lint/read/rendered.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 20;  // of a parameter's name

using MutableNode = std::shared_ptr<Node>;

/// A mapping that grows by the dotted names of `helm.parameters`.
class ParameterTree {
 public:
  void add(const SourceText& name, const NodePtr& value) {
    Node* at = root_.get();
    const std::vector<SourceText> keys = split(name);
    if (keys.size() > kMaxDepth) return;
    for (size_t i = 0; i + 1 < keys.size(); ++i) at = child(*at, keys[i]);
    at->entries.push_back({keys.back(), value});
  }

  const Node& root() const { return *root_; }

 private:
  static MutableNode new_mapping() {
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::kMapping;
    return node;
  }

  /// A backslash keeps a dot in the name: `resources.limits.nvidia\.com/gpu`.
  static std::vector<SourceText> split(const SourceText& name) {
    std::vector<SourceText> keys = {name.substr(0, 0)};
    for (size_t i = 0; i < name.size(); ++i) {
      const bool escaped = name[i] == '\\' && i + 1 < name.size() && name[i + 1] == '.';
      if (name[i] == '.') {
        keys.push_back(name.substr(i + 1, 0));
      } else {
        if (escaped) ++i;
        keys.back().append(name.substr(i, 1));
      }
    }
    return keys;
  }

  Node* child(Node& parent, const SourceText& key) {
    for (size_t i = 0; i < parent.entries.size(); ++i) {
      const auto known = std::find_if(made_.begin(), made_.end(), [&](const MutableNode& node) {
        return node == parent.entries[i].value;
      });
      if (known != made_.end() && parent.entries[i].key.view() == key.view()) return known->get();
    }
    made_.push_back(new_mapping());
    parent.entries.push_back({key, made_.back()});
    return made_.back().get();
  }

  MutableNode root_ = new_mapping();
  std::vector<MutableNode> made_;
};

/// Reads values; an engine that is all of them stands where the resource begins.
class ValuesReader {
 public:
  ValuesReader(const YamlFile& yaml, const Node& resource, FileContents& out)
      : yaml_(yaml), resource_(resource), out_(out) {}

  /// `at_resource`: no entry of the file holds an engine, the whole resource does.
  void read(const Node* values, bool at_resource = false) {
    if (values == nullptr || !values->is_mapping()) return;
    const size_t before = out_.starts.size();
    static constexpr std::array kReaders = {read_production_stack, read_modelservice,
                                            read_kubeai_catalog, read_chart_values};
    std::any_of(kReaders.begin(), kReaders.end(),
                [&](auto reader) { return reader(yaml_, *values, out_); });
    const std::string owner = std::string(text_of(&resource_, "kind")) + "/" +
                              std::string(text_of(resource_.find("metadata"), "name"));
    for (size_t i = before; i < out_.starts.size(); ++i) {
      EngineStart& start = out_.starts[i];
      const bool all = start.name == "values";
      start.name = all ? owner : owner + "/" + start.name;
      if (all || at_resource) start.where = first_key(resource_);
    }
  }

  void read_text(const Node* text) {
    if (text == nullptr || !text->is_scalar() || !yaml_.limit.spend_on(*text)) return;
    const Document document = parse_yaml(text->text);
    for (const NodePtr& root : document.roots) read(root.get());
  }

  void read_parameters(const Node* list) {
    if (list == nullptr || !yaml_.limit.spend_on(*list)) return;
    ParameterTree tree;
    size_t count = 0;
    for (const NodePtr& item : list->items) {
      const Node* name = item->find("name");
      NodePtr value = share(item.get(), "value");
      if (name == nullptr || !name->is_scalar() || value == nullptr) continue;
      if (++count > 2000) break;  // each is looked up among those before
      tree.add(name->text, value);
    }
    if (count > 0) read(&tree.root(), /*at_resource=*/true);
  }

  void read_source(const Node* source) {
    const Node* helm = source == nullptr ? nullptr : source->find("helm");
    if (helm == nullptr) return;
    read(helm->find("valuesObject"));
    read_text(helm->find("values"));
    read_parameters(helm->find("parameters"));
  }

  void read_application(const Node* spec) {
    if (spec == nullptr) return;
    read_source(spec->find("source"));
    const Node* sources = spec->find("sources");
    if (sources == nullptr) return;
    for (const NodePtr& source : sources->items) read_source(source.get());
  }

 private:
  const YamlFile& yaml_;
  const Node& resource_;
  FileContents& out_;
};

}  // namespace

bool read_helm_release(const YamlFile& yaml, const Node& root, FileContents& out) {
  const std::string_view kind = text_of(&root, "kind");
  const Node* spec = root.find("spec");
  ValuesReader reader(yaml, root, out);
  if (const Node* charts = root.find("helmCharts"); charts != nullptr && kind == "Kustomization") {
    for (const NodePtr& chart : charts->items) reader.read(chart->find("valuesInline"));
    return false;  // there may be patches too
  }
  if (root.find("apiVersion") == nullptr || spec == nullptr) return false;
  if (kind == "Application") {
    reader.read_application(spec);
  } else if (kind == "ApplicationSet") {
    reader.read_application(spec->at({"template", "spec"}));
  } else if (kind == "HelmRelease") {
    reader.read(spec->find("values"));
  } else if (kind == "HelmChart" || kind == "HelmChartConfig") {
    reader.read_text(spec->find("valuesContent"));
    reader.read(spec->find("values"));
  } else {
    return false;
  }
  return true;
}

}  // namespace kvbudget
