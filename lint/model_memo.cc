#include "lint/model_memo.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

namespace kvbudget {
namespace {

std::string sha256(std::string_view text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  return llvm::toHex(llvm::SHA256::hash({bytes, text.size()}), /*LowerCase=*/true);
}

ReadModel read_now(const ModelSources& sources, std::string_view model,
                   std::string_view base_folder, Hub* hub) {
  const FindResult found = find_or_fetch(sources, model, base_folder, hub);
  if (!found.files) return {nullptr, "", found.error, ""};
  const ShapeResult read = read_shape(*found.files);
  const std::string error = read.shape ? "" : found.files->source + ": " + read.error;
  return {read.shape, found.files->source, error, sha256(found.files->config)};
}

std::string key_of(const ModelSources& sources, std::string_view model,
                   std::string_view base_folder) {
  std::string key;
  const auto add = [&](std::string_view part) { key.append(part).push_back('\0'); };
  add(model);
  add(base_folder);
  for (const ModelSources::Given& given : sources.configs) {
    add(given.id);
    add(given.path);
  }
  for (const std::string& folder : sources.folders) add(folder);
  return key;
}

}  // namespace

FindResult find_or_fetch(const ModelSources& sources, std::string_view model,
                         std::string_view base_folder, Hub* hub) {
  FindResult found = find_model(sources, model, base_folder);
  if (found.files || hub == nullptr || model.empty()) return found;
  const std::string error = hub->fetch(model);
  if (error.empty()) return find_model(sources, model, base_folder);
  found.error += ", and not on the hub: " + error;
  return found;
}

const ReadModel& ModelMemo::read(const ModelSources& sources, std::string_view model,
                                 std::string_view base_folder, Hub* hub) {
  const std::string key = key_of(sources, model, base_folder);
  {
    const std::lock_guard lock(mutex_);
    const auto known = models_.find(key);
    if (known != models_.end()) return known->second;
  }
  ReadModel now = read_now(sources, model, base_folder, hub);
  const std::lock_guard lock(mutex_);
  return models_.try_emplace(key, std::move(now)).first->second;
}

}  // namespace kvbudget
