// Example deployments: those under ok/ are silent, those under err/ give exactly what they mark.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"

using namespace kvbudget;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(KVB_SOURCE_DIR) / folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The script of a pair, whose findings are in the config file beside it.
bool starts_with_config_file(const fs::path& path) {
  return path.extension() == ".sh" && fs::exists(fs::path(path).replace_extension(".vllm.yaml"));
}

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("deployments that are fine give no finding") {
  std::vector<fs::path> files = files_below("fixtures/deployments/ok");
  REQUIRE(files.size() >= 7);
  const std::vector<fs::path> given = files_below("fixtures/deployments/given");
  files.insert(files.end(), given.begin(), given.end());
  for (const fs::path& path : files) {
    const test::LineRules got = test::found_on_disk(path.string());
    INFO(path.filename().string() << " gives\n" << test::to_text(got));
    CHECK(got.empty());
  }
}

TEST_CASE("deployments with a mistake give exactly the findings they mark") {
  const std::vector<fs::path> files = files_below("fixtures/deployments/err");
  REQUIRE(files.size() >= 10);
  for (const fs::path& path : files) {
    const std::string text = read(path);
    const test::LineRules wanted = test::expected(text);
    const test::LineRules got = test::found_on_disk(path.string());
    INFO(path.filename().string() << " expects\n"
                                  << test::to_text(wanted) << "and gives\n"
                                  << test::to_text(got));
    CHECK(wanted.empty() == starts_with_config_file(path));
    CHECK(wanted == got);
  }
}
