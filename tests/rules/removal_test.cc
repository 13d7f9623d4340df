// Taking words and variables out of a file, in the forms in which files hold them.

#include "rules/removal.h"

#include <string>
#include <vector>

#include "lint/fix.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

Location place(const SourceFile& file, const std::string& text) {
  const size_t at = file.bytes().find(text);
  REQUIRE(at != std::string_view::npos);
  return {&file, {static_cast<uint32_t>(at), static_cast<uint32_t>(at + text.size())}};
}

std::string applied(std::optional<std::vector<Edit>> edits, const SourceFile& file) {
  if (!edits) return "left alone";
  Diagnostic finding;
  propose_removal(std::move(edits), true, "", finding);
  const FixedFiles fixed = apply_fixes({finding}, FixLevel::kSafe);
  return fixed.texts.at(file.path());
}

std::string without_words(const std::string& text, const std::vector<std::string>& words) {
  const SourceFile file("file", text);
  std::vector<Location> places;
  for (const std::string& word : words) places.push_back(place(file, word));
  return applied(remove_words(places), file);
}

std::string without_variable(const std::string& text, const std::string& value) {
  const SourceFile file("file", text);
  EnvVar variable;
  variable.name = SourceText(file, place(file, "NAME").range);
  if (!value.empty()) variable.value = SourceText(file, place(file, value).range);
  return applied(remove_variable(variable), file);
}

}  // namespace

TEST_CASE("words leave a list with their item") {
  CHECK(without_words("args:\n  - --x=1\n  - --y\n", {"--x=1"}) == "args:\n  - --y\n");
  CHECK(without_words("args:\n  - \"--x\"\n  - \"1\"  # one\n  - --y\n", {"--x", "1"}) ==
        "args:\n  - --y\n");
  CHECK(without_words("[\"--x\", \"1\", \"--y\"]", {"--x", "1"}) == "[\"--y\"]");
  CHECK(without_words("[\"--y\", \"--x\", \"1\"]", {"--x", "1"}) == "[\"--y\"]");
  CHECK(without_words("[--x]", {"--x"}) == "[]");
  CHECK(without_words("[\n  \"--x\",\n  \"--y\"\n]", {"--x"}) == "[\n  \"--y\"\n]");
  CHECK(without_words("[\n  \"--y\",\n  \"--x\"\n]", {"--x"}) == "[\n  \"--y\"\n]");
}

TEST_CASE("words leave a command with their line") {
  CHECK(without_words("run: |\n  serve M \\\n    --x=1 --y\n", {"--x=1"}) ==
        "run: |\n  serve M \\\n    --y\n");
  CHECK(without_words("serve M \\\n  --x 1 \\\n  --y\n", {"--x", "1"}) == "serve M \\\n  --y\n");
  CHECK(without_words("serve M \\\n  --y \\\n  --x 1\n", {"--x", "1"}) == "serve M \\\n  --y\n");
  CHECK(without_words("serve M --x 1 --y\n", {"--x", "1"}) == "serve M --y\n");
  CHECK(without_words("serve M --x=1", {"--x=1"}) == "serve M");
  CHECK(without_words("serve M ${ARGS}--x", {"--x"}) == "left alone");
}

TEST_CASE("a key leaves a config file with its value") {
  CHECK(without_words("x: 1\ny: 2\n", {"x", "1"}) == "y: 2\n");
  CHECK(without_words("x: true  # on\ny: 2\n", {"x"}) == "y: 2\n");
}

TEST_CASE("a variable leaves the list, mapping or script that sets it") {
  CHECK(without_variable("env:\n  - name: NAME\n    value: \"1\"\n  - name: B\n", "1") ==
        "env:\n  - name: B\n");
  CHECK(without_variable("env: [{name: NAME, value: \"1\"}]", "1") == "env: []");
  CHECK(without_variable("env:\n  - {name: NAME, value: x}\n  - {name: B}\n", "x") ==
        "env:\n  - {name: B}\n");
  CHECK(without_variable("environment:\n  NAME: 1\n  B: 2\n", "1") == "environment:\n  B: 2\n");
  CHECK(without_variable("environment:\n  - NAME=1\n  - B=2\n", "1") == "environment:\n  - B=2\n");
  CHECK(without_variable("environment:\n  - \"NAME=1\"\n  - B=2\n", "1") ==
        "environment:\n  - B=2\n");
  CHECK(without_variable("#!/bin/sh\nexport NAME=1\nserve\n", "1") == "#!/bin/sh\nserve\n");
  CHECK(without_variable("NAME=1 serve M\n", "1") == "serve M\n");
  CHECK(without_variable("docker run \\\n  -e NAME=1 \\\n  image\n", "1") ==
        "docker run \\\n  image\n");
  CHECK(without_variable("docker run -e NAME=1 image\n", "1") == "docker run image\n");
  CHECK(without_variable("env:\n  - name: NAME\n    value: \"1\"\n    more: x\n", "1") ==
        "left alone");
}
