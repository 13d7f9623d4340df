// `lint --fix` and `--unsafe-fixes` on whole folders: what a second run would change is a fault of
// the first.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/program.h"
#include "tests/support/shared.h"

using namespace kvbudget;
namespace fs = std::filesystem;

namespace {

using Texts = std::map<std::string, std::string>;

Texts texts_below(const fs::path& folder) {
  Texts texts;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    texts[entry.path().string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return texts;
}

/// A copy that goes away with the test.
class Copy {
 public:
  explicit Copy(const fs::path& from)
      : folder_(fs::temp_directory_path() / ("kvbudget-fix-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::copy(from, folder_, fs::copy_options::recursive);
    fs::permissions(folder_, fs::perms::owner_all, fs::perm_options::add);
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      fs::permissions(entry.path(), fs::perms::owner_all, fs::perm_options::add);
    }
  }
  ~Copy() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

void check_settles(const fs::path& from, const std::string& option) {
  const Copy copy(from);
  const std::string command = "lint " + option + " " + copy.folder().string();
  const Texts plain = texts_below(copy.folder());
  const int first = run_program(command).code;
  REQUIRE((first == 0 || first == 1));
  const Texts fixed = texts_below(copy.folder());
  const int second = run_program(command).code;
  REQUIRE((second == 0 || second == 1));
  INFO(option);
  CHECK(fixed != plain);
  for (const auto& [path, text] : texts_below(copy.folder())) {
    INFO(path);
    CHECK(text == fixed.at(path));
  }
}

}  // namespace

TEST_CASE("fixed examples need no further fixes") {
  check_settles(KVB_SOURCE_DIR "/fixtures", "--fix");
  check_settles(KVB_SOURCE_DIR "/fixtures", "--unsafe-fixes");
}

TEST_CASE("fixed files that people deploy need no further fixes", "[corpus]") {
  const fs::path folder = fs::weakly_canonical(test::shared_path("corpus/configs"));
  if (!test::shared_exists(folder)) return;
  check_settles(folder, "--fix");
  check_settles(folder, "--unsafe-fixes");
}
