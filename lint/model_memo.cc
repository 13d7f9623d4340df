#include "lint/model_memo.h"

namespace kvbudget {
namespace {

ReadModel read_now(const ModelSources& sources, std::string_view model,
                   std::string_view base_folder) {
  const FindResult found = find_model(sources, model, base_folder);
  if (!found.files) return {nullptr, "", found.error};
  const ShapeResult read = read_shape(*found.files);
  const std::string error = read.shape ? "" : found.files->source + ": " + read.error;
  return {read.shape, found.files->source, error};
}

}  // namespace

const ReadModel& ModelMemo::read(const ModelSources& sources, std::string_view model,
                                 std::string_view base_folder) {
  const auto [entry, is_new] = models_.try_emplace({std::string(model), std::string(base_folder)});
  if (is_new) entry->second = read_now(sources, model, base_folder);
  return entry->second;
}

}  // namespace kvbudget
