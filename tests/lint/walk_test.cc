#include "lint/walk.h"

#include "tests/support/catch.h"
#include "tests/support/memory_files.h"

using namespace kvbudget;

namespace {

std::vector<std::string> found(const MemoryFiles& files, const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const FoundFile& file : walk(files, paths).files) result.push_back(file.path);
  return result;
}

using Paths = std::vector<std::string>;

}  // namespace

TEST_CASE("a folder is walked in sorted order, whatever order it is stored in") {
  const MemoryFiles files{{"d/z.yaml", ""}, {"d/a/b.yml", ""}, {"d/a.yaml", ""}, {"e.yaml", ""}};
  CHECK(found(files, {"d"}) == Paths{"d/a/b.yml", "d/a.yaml", "d/z.yaml"});
  CHECK(found(files, {"."}) == Paths{"d/a/b.yml", "d/a.yaml", "d/z.yaml", "e.yaml"});
}

TEST_CASE("paths keep the order of the command line and count once") {
  const MemoryFiles files{{"b.yaml", ""}, {"a.yaml", ""}};
  CHECK(found(files, {"b.yaml", "a.yaml", "b.yaml"}) == Paths{"b.yaml", "a.yaml"});
  CHECK(found(files, {"./b.yaml", "."}) == Paths{"b.yaml", "a.yaml"});
  CHECK(found(files, {"-", "a.yaml"}) == Paths{"-", "a.yaml"});
}

TEST_CASE("a walk leaves out what holds no engine start") {
  const MemoryFiles files{{"d/.git/config.yaml", ""},
                          {"d/node_modules/x/a.yaml", ""},
                          {"d/readme.md", ""},
                          {"d/Dockerfile.gpu", ""},
                          {"d/docker-compose.yml", ""},
                          {"d/run.sh", ""},
                          {"d/vllm.service", ""},
                          {"d/weights.safetensors", ""},
                          {"d/.github/workflows/a.yml", ""}};
  CHECK(found(files, {"d"}) == Paths{"d/.github/workflows/a.yml", "d/Dockerfile.gpu",
                                     "d/docker-compose.yml", "d/run.sh", "d/vllm.service"});
}

TEST_CASE("a walk leaves out what .gitignore files name, up to the repository's root") {
  const MemoryFiles files{{".gitignore", "*.yaml\n"},
                          {"r/.git/HEAD", ""},
                          {"r/.gitignore", "out/\n/top.sh\n"},
                          {"r/out/a.yaml", ""},
                          {"r/top.sh", ""},
                          {"r/d/top.sh", ""},
                          {"r/d/.gitignore", "*.yml\n!keep.yml\n"},
                          {"r/d/a.yml", ""},
                          {"r/d/keep.yml", ""},
                          {"r/d/b.yaml", ""}};
  CHECK(found(files, {"r"}) == Paths{"r/d/b.yaml", "r/d/keep.yml", "r/d/top.sh"});
  CHECK(found(files, {"r/out/a.yaml"}) == Paths{"r/out/a.yaml"});
}

TEST_CASE("a walk asks whether a path is left out") {
  const MemoryFiles files{{"d/a.yaml", ""}, {"d/v/b.yaml", ""}};
  const SkipPath skip = [](const std::string& path) { return path == "d/v"; };
  REQUIRE(walk(files, {"d"}, skip).files.size() == 1);
}

TEST_CASE("a named file is taken whatever it is called") {
  const MemoryFiles files{{"start-engine", ""}};
  const WalkResult result = walk(files, {"start-engine"});
  REQUIRE(result.files.size() == 1);
  CHECK(result.files[0].named);
}

TEST_CASE("naming a file that a walk met first still counts as naming it") {
  const MemoryFiles files{{"d/a.json", ""}};
  const WalkResult result = walk(files, {"d", "d/a.json"});
  REQUIRE(result.files.size() == 1);
  CHECK(result.files[0].named);
}

TEST_CASE("paths that cannot be followed are errors and stop nothing") {
  MemoryFiles files{{"a.yaml", ""}, {"secret/b.yaml", ""}};
  files.denied.insert("secret");
  const WalkResult result = walk(files, {"missing.yaml", "secret", "a.yaml"});
  REQUIRE(result.errors.size() == 2);
  CHECK(result.errors[0].path == "missing.yaml");
  CHECK(result.errors[0].reason == "no such file or folder");
  CHECK(result.errors[1].path == "secret");
  CHECK(result.errors[1].reason == "permission denied");
  CHECK(result.files.size() == 1);
}

TEST_CASE("only text counts as text") {
  CHECK_FALSE(looks_binary("args: [\"--model\"]\n"));
  CHECK(
      looks_binary(std::string_view("\x7f"
                                    "ELF\0\0",
                                    6)));
  CHECK(candidate_max_bytes("d/a.json") < candidate_max_bytes("d/a.yaml"));
}
