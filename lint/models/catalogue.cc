// Models that are known without any file: lint/models/data/*.jsonl.
//
// One model a line: {"id": "org/name", "config": {…}} with the keys of its config.json that memory
// depends on, "bytes": the size of its safetensors files where that is published, "source": where
// the facts are from; "config.json of the Hub repository" alone, without a revision, means values
// as publicly known, held to the size in the model's name and, where one is at hand, to a copy of
// the file (tests/models). "like": another id whose config is the base that "config" is laid over;
// "also": ids of the same shape.
#include "lint/models/catalogue.h"

#include <map>

#include "cmake/embedded.h"
#include "lint/models/config.h"
#include "lint/models/model_files.h"
#include "lint/read/text.h"

namespace kvbudget::embedded {
extern const std::span<const File> model_catalogue;
}

namespace kvbudget {

using models::Json;

namespace {

using Entries = std::map<std::string, Json, std::less<>>;

void add_line(std::string_view line, Entries& entries) {
  models::ParsedJson parsed = models::parse_json_object(line);
  if (!parsed.error.empty()) return;
  std::string error;
  const models::Config entry(parsed.value, error);
  Json shared = parsed.value;
  for (const std::string& also : entry.texts("also")) entries.emplace(also, shared);
  entries.emplace(entry.text("id"), std::move(shared));
}

const Entries& catalogue() {
  static const Entries entries = [] {
    Entries result;
    for (const embedded::File& file : embedded::model_catalogue) {
      models::any_part(file.text, '\n', [&](std::string_view line) {
        if (!line.empty()) add_line(line, result);
        return false;
      });
    }
    return result;
  }();
  return entries;
}

Json config_of(const Json& entry, int depth = 0) {
  std::string error;
  const models::Config fields(entry, error);
  Json config = Json::object();
  const auto base = catalogue().find(fields.text("like"));
  if (base != catalogue().end() && depth < 4) config = config_of(base->second, depth + 1);
  if (const auto own = fields.nested("config")) config.update(own->json());
  return config;
}

Entries::const_iterator entry_of(std::string_view id) {
  const auto exact = catalogue().find(id);
  if (exact != catalogue().end()) return exact;
  const std::string wanted = lower(id);
  for (auto it = catalogue().begin(); it != catalogue().end(); ++it) {
    if (lower(it->first) == wanted) return it;
  }
  return catalogue().end();
}

}  // namespace

std::optional<ModelFiles> models::built_in_model(std::string_view id) {
  const auto entry = entry_of(id);
  if (entry == catalogue().end()) return std::nullopt;
  std::string error;
  const Config fields(entry->second, error);
  ModelFiles files;
  files.id = std::string(id);
  files.source = kBuiltInSource;
  files.config = config_of(entry->second).dump();
  if (const auto bytes = fields.count("bytes", uint64_t{1} << 60)) {
    files.safetensors_index = Json{{"metadata", {{"total_size", *bytes}}}}.dump();
  }
  return files;
}

std::vector<std::string> catalogue_ids() {
  std::vector<std::string> ids;
  for (const auto& [id, entry] : catalogue()) ids.push_back(id);
  return ids;
}

}  // namespace kvbudget
