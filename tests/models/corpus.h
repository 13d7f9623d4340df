// The public corpus of configs and measurements that some tests run over, where it is present.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "lint/models/catalogue.h"
#include "tests/models/shapes.h"
#include "tests/support/shared.h"

namespace kvbudget::test {

inline std::vector<nlohmann::json> read_lines(const std::filesystem::path& path) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// A config "org__name.json" of the corpus with the file that ModelOpt puts beside it.
inline ModelFiles corpus_files(const std::filesystem::path& config) {
  ModelFiles files;
  files.id = config.stem().string();
  files.config = read_text(config);
  files.quant_config =
      read_text(config.parent_path() / "hf_quant_config" / (files.id + ".hf_quant_config.json"));
  return files;
}

/// The cells of a line of tab-separated values, at least `columns` of them.
inline std::vector<std::string> tsv_cells(const std::string& line, size_t columns) {
  std::vector<std::string> result;
  std::stringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) result.push_back(cell);
  if (result.size() < columns) result.resize(columns);
  return result;
}

/// The config of "org/name" in the collection, else in the built-in catalogue; empty when in
/// neither.
inline ModelFiles known_files(const std::string& id) {
  std::string name = id;
  const size_t slash = name.find('/');
  if (slash != std::string::npos) name.replace(slash, 1, "__");
  for (const char* folder : {"corpus/models", "groundtruth/models"}) {
    ModelFiles files = corpus_files(shared_path(folder) / (name + ".json"));
    if (!files.config.empty()) return files;
  }
  const FindResult built_in = find_model({}, id, "");
  return built_in.files.value_or(ModelFiles{});
}

}  // namespace kvbudget::test
