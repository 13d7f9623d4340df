// llm-d: values of the chart llm-d-modelservice, and of charts that hold it.
//
// Keys and commands are those of charts/llm-d-modelservice/templates/_helpers.tpl
// (github.com/llm-d-incubation/llm-d-modelservice 0.4, April 2026). Each role's containers are
// completed as the chart does it: `vllmServe` and `imageDefault` get model, port, parallel sizes
// and name, `custom` stands as it is.

#include "lint/read/modelservice.h"

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/container.h"
#include "lint/read/manifest.h"
#include "lint/read/rendered.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 6;  // of the values below the root

struct Accelerator {
  std::string_view type;
  std::string_view resource;  ///< empty: none
};

// `accelerator.resources` of the chart's values.yaml; any other type is nvidia.com/gpu.
constexpr std::array kAccelerators = {
    Accelerator{"amd", "amd.com/gpu"},
    Accelerator{"cpu", ""},
    Accelerator{"google", "google.com/tpu"},
    Accelerator{"intel-gaudi", "habana.ai/gaudi"},
    Accelerator{"intel-i915", "gpu.intel.com/i915"},
    Accelerator{"intel-xe", "gpu.intel.com/xe"},
};

constexpr std::array kArguments = {KeyFlag{"args", "", KeyForm::kWords}};

/// The values, and one role of them.
struct Role {
  const YamlFile& yaml;
  const Node& values;
  const Node& spec;
  std::string_view name;
};

/// How many ranks of a kind, and where that is said; one when nothing says it.
struct Size {
  uint32_t value = 1;
  NodePtr node;
  bool known = true;

  bool is_one() const { return known && value == 1; }
};

Size size_of(const Role& role, std::string_view key) {
  const Node* parallelism = role.spec.find("parallelism");
  NodePtr node = share(parallelism, key);
  if (const auto number = number_of(node.get()); number && number->value > 0) {
    return {number->value, node};
  }
  return node == nullptr || word_of(*node).known ? Size() : Size{0, node, false};
}

Size product(const Size& a, const Size& b) {
  if (!a.known || b.is_one()) return a;
  if (!b.known || a.is_one()) return b;
  const uint64_t value = uint64_t{a.value} * b.value;
  return {static_cast<uint32_t>(value), text_at(std::to_string(value), a.node->where)};
}

Size data_size(const Role& role) {
  const Size data = size_of(role, "data");
  const Size local = size_of(role, "dataLocal");
  if (data.node != nullptr || local.node == nullptr) return data;
  return product(local, size_of(role, "workers"));
}

Size local_size(const Role& role) {
  const Size local = size_of(role, "dataLocal");
  if (local.node != nullptr) return local;
  const Size data = size_of(role, "data");
  const Size workers = size_of(role, "workers");
  if (!data.known || data.node == nullptr || workers.is_one()) return data;
  if (!workers.known || data.value % workers.value != 0) return workers;
  const uint32_t value = data.value / workers.value;
  return {value, text_at(std::to_string(value), data.node->where)};
}

void add_size(std::string_view flag, const Size& size, RenderedPod& pod) {
  if (!size.is_one()) pod.add_argument(flag, *size.node);
}

void add_items(const Node* list, std::vector<NodePtr>& words) {
  if (list != nullptr) words.insert(words.end(), list->items.begin(), list->items.end());
}

NodePtr tail_of(const Node& scalar, size_t begin) {
  return scalar_of(scalar.text.substr(std::min(begin, scalar.text.size())));
}

/// Model of the artifact's address. `hf://{{ .Values.modelArtifacts.name }}` is the name.
NodePtr model_of(const Node& artifacts) {
  const NodePtr uri = share(&artifacts, "uri");
  if (uri == nullptr || !uri->is_scalar()) return nullptr;
  const std::string_view text = uri->scalar();
  const bool by_name = text.find(".Values.modelArtifacts.name") != std::string_view::npos;
  if (by_name && share(&artifacts, "name")) return share(&artifacts, "name");
  const size_t mark = text.find("://");
  if (mark == std::string_view::npos) return uri;
  const std::string_view protocol = text.substr(0, mark);
  const size_t path = mark + 3;
  if (protocol == "pvc+hf") {
    const size_t model = text.rfind('/');
    const size_t owner = text.substr(0, model).rfind('/');
    return tail_of(*uri, owner + 1);
  }
  if (protocol != "pvc") return tail_of(*uri, path);
  const size_t claim = text.find('/', path);
  const NodePtr mount = share(&artifacts, "mountPath");
  if (claim == std::string_view::npos) return uri;
  return join(mount == nullptr ? text_at("/model-cache", uri->where) : mount, '/',
              tail_of(*uri, claim + 1));
}

NodePtr port_of(const Role& role) {
  const Node* routing = role.values.find("routing");
  const Node* proxy = routing == nullptr ? nullptr : routing->find("proxy");
  const bool proxied = proxy == nullptr || !is_false(proxy->find("enabled"));
  const bool direct = role.name == "prefill" || !proxied;
  return direct ? share(routing, "servicePort") : share(proxy, "targetPort");
}

/// The image's own command, of `imageDefault`, is taken for the same server.
void complete(const Role& role, RenderedPod& pod) {
  const Node& artifacts = *role.values.find("modelArtifacts");
  pod.serve(model_of(artifacts).get());
  if (NodePtr port = port_of(role)) pod.add_argument("--port", *port);
  add_size("--tensor-parallel-size", size_of(role, "tensor"), pod);
  add_size("--data-parallel-size", data_size(role), pod);
  add_size("--data-parallel-size-local", local_size(role), pod);
  NodePtr served = share(&artifacts, "name");
  if (served == nullptr) served = share(role.values.find("routing"), "modelName");
  if (served != nullptr) pod.add_argument("--served-model-name", *served);
}

std::string_view resource_of(const Role& role) {
  std::string_view type = text_of(role.spec.find("accelerator"), "type");
  if (type.empty()) type = text_of(role.values.find("accelerator"), "type");
  for (const Accelerator& accelerator : kAccelerators) {
    if (accelerator.type == type) return accelerator.resource;
  }
  return "nvidia.com/gpu";
}

/// The limit that stands there, or one card for each rank of a worker.
NodePtr resources_of(const Role& role, const Node& container) {
  const std::string_view resource = resource_of(role);
  NodePtr written = share(&container, "resources");
  for (const std::string_view list : {"limits", "requests"}) {
    const Node* entries = written == nullptr ? nullptr : written->find(list);
    if (entries != nullptr && entries->find(resource) != nullptr) return written;
  }
  if (resource.empty()) return nullptr;
  const Size cards = product(size_of(role, "tensor"), local_size(role));
  return limits_of(resource,
                   cards.node != nullptr ? cards.node : text_at("1", first_key(container)));
}

bool is_gaudi(const Node& container) {
  const Node* env = container.find("env");
  if (env == nullptr) return false;
  for (const NodePtr& variable : env->items) {
    if (text_of(variable.get(), "name") == "HABANA_VISIBLE_DEVICES") return true;
  }
  return false;
}

void read_container(const Role& role, const Node& container, FileContents& out) {
  if (!container.is_mapping() || !role.yaml.limit.spend_on(container)) return;
  RenderedPod pod(role.yaml, "helm-values",
                  std::string(role.name) + "/" + std::string(text_of(&container, "name")),
                  first_key(container));
  pod.base.replicas = number_of(role.spec.find("replicas"));
  if (is_true(role.values.find("multinode"))) {
    const Size workers = size_of(role, "workers");
    if (workers.value > 1) pod.base.nodes = {workers.value, workers.node->where};
  }
  pod.image = share(&container, "image");
  const std::string_view command = text_of(&container, "modelCommand");
  if (command == "vllmServe" || command == "imageDefault") {
    complete(role, pod);
    add_flags(&container, kArguments, pod.args);
  } else {
    pod.is_written = true;
    add_items(container.find("command"), pod.command);
    add_items(container.find("args"), pod.command);
  }
  pod.add_variables(container.find("env"));
  if (!is_gaudi(container)) pod.resources = resources_of(role, container);
  const Node* types = role.spec.find("acceleratorTypes");
  const NodePtr values = share(types, "labelValues");
  const std::string_view label = text_of(types, "labelKey");
  if (values != nullptr && values->items.size() == 1 && !label.empty()) {
    pod.node_selector = map_of({{label, values->items.front()}});
  }
  read_rendered_pod(role.yaml, std::move(pod), out);
}

bool read_values(const YamlFile& yaml, const Node& node, int depth, FileContents& out) {
  if (!node.is_mapping() || depth > kMaxDepth || !yaml.limit.spend(64)) return false;
  const Node* artifacts = node.find("modelArtifacts");
  if (artifacts != nullptr && artifacts->is_mapping()) {
    bool found = false;
    for (const std::string_view name : {"decode", "prefill"}) {
      const Node* spec = node.find(name);
      const Node* containers = spec == nullptr ? nullptr : spec->find("containers");
      if (containers == nullptr) continue;
      found = true;
      if (is_false(spec->find("create"))) continue;
      for (const NodePtr& container : containers->items) {
        read_container({yaml, node, *spec, name}, *container, out);
      }
    }
    return found;
  }
  bool found = false;
  for (const Entry& entry : node.entries) {
    if (read_values(yaml, *entry.value, depth + 1, out)) found = true;
  }
  return found;
}

}  // namespace

bool read_modelservice_values(const YamlFile& yaml, const Node& values, FileContents& out) {
  return read_values(yaml, values, 0, out);
}

bool read_modelservice(const YamlFile& yaml, const Node& root, FileContents& out) {
  if (yaml.file.bytes().find("modelArtifacts") == std::string_view::npos) return false;
  return read_modelservice_values(yaml, root, out);
}

}  // namespace kvbudget
