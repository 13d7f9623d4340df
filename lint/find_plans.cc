#include "lint/find_plans.h"

#include <utility>

namespace kvbudget {

void find_plans(Deployment& d, const Inputs& inputs, const std::string& folder) {
  const auto add = [&](const std::string& path, std::string_view text) {
    if (auto plan = read_plan_file(path, text)) d.plans.push_back(std::move(*plan));
  };
  for (const MountedJson& file : d.start.mounted_json) add(file.path, file.text.view());
  if (inputs.sources == nullptr || d.start.file == nullptr) return;
  for (const std::string& name : inputs.sources->plans_in(folder)) {
    std::string error;
    const std::string path = join_path(folder, name);
    if (const SourceFile* file = inputs.sources->open(path, &error)) add(path, file->bytes());
  }
}

}  // namespace kvbudget
