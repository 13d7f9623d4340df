// Helpers of the tests of lint/models.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "lint/models/catalogue.h"
#include "tests/support/catch.h"

namespace kvbudget::test {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline ShapeResult shape_of(const std::string& config) {
  ModelFiles files;
  files.id = "org/test";
  files.config = config;
  return read_shape(files);
}

/// The shape of a config that has to be understood.
inline memory::ModelShape read(const std::string& config) {
  const ShapeResult result = shape_of(config);
  INFO(config << "\n" << result.error);
  REQUIRE(result.shape != nullptr);
  return *result.shape;
}

}  // namespace kvbudget::test
