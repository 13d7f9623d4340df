// The public corpus of configs and measurements that some tests run over, where it is present.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

}  // namespace kvbudget::test
