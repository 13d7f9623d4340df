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
  explicit ConfigMaps(const std::vector<NodePtr>& roots);
  /// The `data` of a ConfigMap, or null.
  const Node* find(std::string_view name) const;

 private:
  std::map<std::string, const Node*, std::less<>> data_;
};

/// `base` holds what the workload says; each container that starts an engine adds one.
void read_pod(const Node& spec, const ConfigMaps& configs, const EngineStart& base,
              FileContents& out);

/// Environment of a container: `env` and `envFrom`.
std::vector<EnvVar> read_environment(const Node& container, const ConfigMaps& configs);

/// True for `${X}` and `$X`, which whatever deploys the manifest replaces: Kubernetes does not.
bool has_placeholder(std::string_view text);

/// Replaces `$(NAME)` by the variables that are known, as the kubelet does. The word is known when
/// nothing is left to replace.
Word expand_references(const Word& word, const std::vector<EnvVar>& env);

}  // namespace kvbudget
