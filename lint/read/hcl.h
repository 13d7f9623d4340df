// HCL, Terraform's language, as far as it states facts: blocks, attributes, literals.
#pragma once

#include <string_view>
#include <vector>

#include "lint/read/document.h"

namespace kvbudget {

/// The key under which a block within a body keeps its first label (`device "nvidia/gpu"`).
constexpr std::string_view kHclLabel = "(label)";

struct HclBlock {
  SourceText type;                 ///< `resource`
  std::vector<SourceText> labels;  ///< `"kubernetes_deployment"`, `"chat"`
  NodePtr body;
};

/// The blocks of a file. A body is a mapping: names of attributes and blocks lose their underscores
/// (`node_selector` is `nodeSelector`, as the provider's JSON has it), blocks that Kubernetes keeps
/// in lists become lists under its name (`container` is `containers`). Objects keep their keys. An
/// expression that only Terraform knows is text around `${…}`; heredocs are left out.
std::vector<HclBlock> parse_hcl(const SourceFile& file);

}  // namespace kvbudget
