// The pod spec: containers, environment, GPUs, node selection.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lint/read/container.h"
#include "lint/read/readers.h"

namespace kvbudget {

/// ConfigMaps that stand in the same file, by name.
class ConfigMaps {
 public:
  explicit ConfigMaps(const YamlFile& yaml);
  /// The `data` of a ConfigMap, or null.
  const Node* find(std::string_view name) const;
  /// Pays for reading the text of one as a file; each container may mount it again.
  bool spend_on(const Node& text) const { return limit_.spend(16 * text.text.size()); }

 private:
  WorkLimit& limit_;
  std::map<std::string, const Node*, std::less<>> data_;
};

/// One container of the pod `spec`, as read_pod() reads each. `start` holds what the workload says.
void read_container(const Node& container, const Node& spec, const ConfigMaps& configs,
                    EngineStart start, FileContents& out);

/// What a container says beside its command: image, environment, GPUs. It adds to what `start`
/// holds.
void describe_container(const Node& container, const Node& spec, const ConfigMaps& configs,
                        EngineStart& start);

/// The engines of all containers of a pod.
void read_pod(const Node& spec, const ConfigMaps& configs, const EngineStart& base,
              FileContents& out);

/// A node label whose value names a card or a machine.
bool is_gpu_label(std::string_view label);

/// Adds the environment of a container: `envFrom` and `env`.
void add_environment(const Node& container, const ConfigMaps& configs, std::vector<EnvVar>& env);

/// … of a list of variables as `env` holds it.
void add_variable_list(const Node& list, const ConfigMaps& configs, std::vector<EnvVar>& env);

/// True for `${X}` and `$X`, which whatever deploys the manifest replaces: Kubernetes does not.
bool has_placeholder(std::string_view text);

/// Replaces `$(NAME)` by the variables that are known, as the kubelet does. The word is known when
/// nothing is left to replace.
Word expand_references(const Word& word, const std::vector<EnvVar>& env);

}  // namespace kvbudget
