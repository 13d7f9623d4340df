// What a kustomization does to the manifests it gathers.
#pragma once

#include <string>
#include <vector>

#include "lint/read/readers.h"

namespace kvbudget {

using Manifests = std::vector<NodePtr>;

/// A selector (`target`, `select`) means the manifest.
bool is_selected(const Node& manifest, const Node& selector);

/// One entry of `patches`; `patch` is a manifest or a list of operations. Without a target a
/// manifest is for the object of its own kind and name.
void apply_patch(Manifests& manifests, const NodePtr& patch, const Node* target, WorkLimit& limit);

/// `images`: new names and tags, in every list of containers.
void set_images(Manifests& manifests, const Node& images, WorkLimit& limit);

/// `replicas`: counts of workloads by name.
void set_replicas(Manifests& manifests, const Node& replicas, WorkLimit& limit);

/// A ConfigMap of `name` and `data`, added, or merged over the one of that name.
void add_config_map(Manifests& manifests, const NodePtr& name, const NodePtr& data,
                    std::string_view behavior, WorkLimit& limit);

}  // namespace kvbudget
