#include "tests/read/corpus.h"

#include <iomanip>
#include <map>
#include <sstream>

#include "lint/read/engine_start.h"
#include "tests/read/word_places.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

bool names_model(const EngineStart& start) {
  for (const ConfigKey& key : start.config) {
    if (key.key.view() == "model") return true;
  }
  if (!start.argv.empty() && start.argv[0].text.view().substr(0, 1) != "-") return true;
  for (const Word& word : start.argv) {
    if (word.text.view().substr(0, 7) == "--model") return true;
  }
  return false;
}

struct Row {
  int files = 0;
  int with_flags = 0;
  int found = 0;
  int with_model = 0;
  int starts = 0;
  std::string missed;
};

}  // namespace

TEST_CASE("real deployment files give the engines they hold", "[corpus]") {
  if (!test::shared_exists(test::shared_path("corpus/configs"))) return;
  const std::vector<corpus::File> files = corpus::files();
  REQUIRE_FALSE(files.empty());
  std::map<std::string, Row> rows;
  for (const corpus::File& item : files) {
    INFO(item.path.string());
    const SourceFile file(item.path.string(), corpus::read_bytes(item.path));
    const FileContents contents = read_file(file);
    for (const EngineStart& start : contents.starts) {
      CHECK(start.where);
      CHECK(misplaced_word(start) == "");
    }
    Row& row = rows[item.format];
    ++row.files;
    row.starts += static_cast<int>(contents.starts.size());
    if (!item.has_flags) continue;
    ++row.with_flags;
    if (contents.starts.empty()) {
      row.missed += "\n      " + item.path.string();
      for (const SyntaxError& error : contents.errors) row.missed += " [" + error.message + "]";
    } else {
      ++row.found;
    }
    for (const EngineStart& start : contents.starts) {
      if (!names_model(start)) continue;
      ++row.with_model;
      break;
    }
  }
  std::ostringstream table;
  table << "format            files  flags  found  model  starts\n";
  for (const auto& [format, row] : rows) {
    table << std::left << std::setw(16) << format << std::right << std::setw(7) << row.files
          << std::setw(7) << row.with_flags << std::setw(7) << row.found << std::setw(7)
          << row.with_model << std::setw(8) << row.starts << row.missed << "\n";
  }
  WARN(table.str());
  int with_flags = 0;
  int found = 0;
  for (const std::string format : {"k8s", "compose", "vllm-yaml", "shell"}) {
    with_flags += rows[format].with_flags;
    found += rows[format].found;
  }
  CHECK(found * 10 >= with_flags * 9);
}
