// Real deployment files, kept beside the repository. Tests that need them are tagged [corpus].
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/shared.h"

namespace kvbudget::corpus {

struct File {
  std::filesystem::path path;
  std::string format;  ///< "k8s", "compose", …
  bool has_flags = false;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The files of MANIFEST.tsv; empty when there is no corpus on this machine.
inline std::vector<File> files() {
  const std::filesystem::path root = test::shared_path("corpus/configs");
  std::ifstream in(root / "MANIFEST.tsv");
  std::vector<File> result;
  std::string line;
  std::getline(in, line);  // the heading
  while (std::getline(in, line)) {
    std::vector<std::string> columns;
    for (size_t begin = 0; begin <= line.size();) {
      const size_t end = std::min(line.find('\t', begin), line.size());
      columns.push_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    if (columns.size() < 9) continue;
    result.push_back({root / columns[0], columns[5], columns[8] != "-"});
  }
  return result;
}

}  // namespace kvbudget::corpus
