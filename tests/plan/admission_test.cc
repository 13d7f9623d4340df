// `admission` of the project file, and its place in the plan.
#include "lint/admission.h"

#include "lint/project.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

ProjectResult read(const std::string& text) {
  const SourceFile file(".kvbudget.yaml", text);
  return read_project(file);
}

}  // namespace

TEST_CASE("a project says who may use the cache, and overrides change it for some files") {
  const ProjectResult result = read(R"(admission:
  mode: optimistic
  max-pending: 64
  max-hold-seconds: 2.5
  tenants:
    - {name: chat, weight: 3, min-blocks: 1000}
    - {name: batch, max-blocks: 4000}
overrides:
  - files: [prod/**]
    admission: {mode: strict}
)");
  REQUIRE(result.project);
  const Admission here = result.project->settings_for("chat.yaml").admission;
  CHECK(here.mode == "optimistic");
  CHECK(here.max_pending == 64);
  CHECK(here.max_hold_seconds == 2.5);
  REQUIRE(here.tenants);
  REQUIRE(here.tenants->size() == 2);
  CHECK(here.tenants->at(0).weight == 3.0);
  CHECK(here.tenants->at(0).min_blocks == 1000);
  CHECK_FALSE(here.tenants->at(0).max_blocks);
  CHECK(here.tenants->at(1).max_blocks == 4000);
  const Admission there = result.project->settings_for("prod/chat.yaml").admission;
  CHECK(there.mode == "strict");
  CHECK(there.max_pending == 64);
}

TEST_CASE("what is wrong with admission is named with its place") {
  const std::pair<const char*, const char*> cases[] = {
      {"admission: {mod: strict}", ".kvbudget.yaml:1:13: unknown key 'mod'; did you mean 'mode'?"},
      {"admission: {mode: strickt}",
       ".kvbudget.yaml:1:19: no mode 'strickt'; did you mean 'strict'?"},
      {"admission: {max-pending: 1.5}", ".kvbudget.yaml:1:26: expected a whole number"},
      {"admission: {tenants: [{weight: 1}]}", ".kvbudget.yaml:1:23: a tenant without a name"},
      {"admission: {tenants: [{name: a}, {name: a}]}",
       ".kvbudget.yaml:1:34: tenant 'a' is there twice"},
      {"admission: {tenants: [{name: a, min-blocks: 5, max-blocks: 4}]}",
       ".kvbudget.yaml:1:23: tenant 'a': max-blocks 4 is less than min-blocks 5"},
      {"admission: {tenants: [{name: a, blocks: 5}]}", ".kvbudget.yaml:1:33: unknown key 'blocks'"},
  };
  for (const auto& [text, error] : cases) {
    INFO(text);
    const ProjectResult result = read(text);
    INFO(result.error);
    CHECK(result.error.starts_with(error));
  }
}
