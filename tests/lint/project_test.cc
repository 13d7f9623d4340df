#include "lint/project.h"

#include "lint/projects.h"
#include "lint/resolve_deployment.h"
#include "tests/support/catch.h"
#include "tests/support/memory_files.h"

using namespace kvbudget;

namespace {

ProjectResult read(const std::string& text) {
  static std::vector<std::unique_ptr<SourceFile>> files;
  files.push_back(std::make_unique<SourceFile>("deploy/.kvbudget.yaml", text));
  return read_project(*files.back());
}

const std::string kProject = R"yaml(
engine: vllm@0.19.0
gpu: L4:2
models: [models]
model-config: {org/name: cfg/name.json}
exclude: [vendor/**]
rules: {KVB410: off, KVB507: error}
thresholds: {max-preemption-risk: 0.1}
workload: {concurrency: 32, prompt-tokens: 3000, output-tokens: 500}
overrides:
  - files: [prod/**]
    gpu: {name: H100-80GB, count: 4}
    rules: {KVB410: warning}
  - files: [prod/eu/*.yaml]
    workload: {concurrency: 64}
)yaml";

}  // namespace

TEST_CASE("a project file says what its files leave open") {
  const ProjectResult result = read(kProject);
  REQUIRE(result.error == "");
  const ProjectSettings plain = result.project->settings_for("deploy/chat.yaml");
  CHECK(plain.engine->str() == "0.19.0");
  CHECK(plain.gpu->name == "L4");
  CHECK(plain.gpu_count == 2);
  CHECK(plain.model_folders == std::vector<std::string>{"deploy/models"});
  CHECK(plain.model_configs.at(0).path == "deploy/cfg/name.json");
  CHECK(plain.rules.at("KVB410") == RuleLevel());
  CHECK(plain.rules.at("KVB507") == RuleLevel(Severity::kError));
  CHECK(plain.max_preemption_risk == 0.1);
  CHECK(plain.workload.prompt_tokens == 3000.0);
  CHECK(result.project->excludes("deploy/vendor/a/b.yaml"));
  CHECK_FALSE(result.project->excludes("other/vendor/a.yaml"));
}

TEST_CASE("the last override that names a file wins, key by key") {
  const ProjectResult result = read(kProject);
  REQUIRE(result.error == "");
  const ProjectSettings eu = result.project->settings_for("deploy/prod/eu/chat.yaml");
  CHECK(eu.gpu->name == "H100-80GB");
  CHECK(eu.gpu_count == 4);
  CHECK(eu.rules.at("KVB410") == RuleLevel(Severity::kWarning));
  CHECK(eu.workload.concurrency == 64.0);
  CHECK(eu.workload.output_tokens == 500.0);
}

TEST_CASE("what is wrong with a project file is said with its place") {
  const std::pair<const char*, const char*> cases[] = {
      {"engin: vllm@0.19.0",
       "deploy/.kvbudget.yaml:1:1: unknown key 'engin'; did you mean 'engine'"},
      {"engine: 0.19", ":1:9: engine: expected vllm@VERSION"},
      {"gpu: L5", ":1:6: gpu: unknown card"},
      {"gpu: {memory: 24}", "gpu: expected a size with its unit"},
      {"gpu: {nam: L4}", "unknown key 'nam'"},
      {"rules: {KVB410: loud}", "expected off, info, warning or error"},
      {"workload: {concurrency: many}", "expected a number from 0"},
      {"workload: {ttft: 1}", "unknown key 'ttft'"},
      {"thresholds: {max-preemption-risk: 7}", "expected a number from 0 to 1, not '7'"},
      {"overrides: [{gpu: L4}]", "'files' is missing"},
      {"- a", "expected keys"},
      {"a: [", "deploy/.kvbudget.yaml:1:"},
  };
  for (const auto& [text, message] : cases) {
    INFO(text);
    const std::string error = read(text).error;
    INFO(error);
    CHECK(error.find(message) != std::string::npos);
  }
}

TEST_CASE("project files are found by walking up") {
  MemoryFiles files{
      {".kvbudget.yaml", "gpu: L4"}, {"a/b/c.yaml", ""}, {"x/.kvbudget.yaml", "gpu: T4"}};
  SourceStore sources(files);
  Projects projects(sources);
  CHECK(projects.settings_for("a/b/c.yaml").gpu->name == "L4");
  CHECK(projects.settings_for("x/y.yaml").gpu->name == "T4");
  CHECK(projects.settings_for("-").gpu->name == "L4");
  CHECK(projects.errors().empty());
}

TEST_CASE("the linted file wins over the project, and the command line over both") {
  const std::vector<std::string> words = {"vllm", "serve", "Qwen/Qwen2.5-7B-Instruct"};
  const EngineStart start = read_command_line(words).starts.front();
  Inputs inputs;
  ProjectSettings project;
  project.gpu = *find_gpu("L4");
  project.gpu_count = 1;
  project.engine = Version{0, 19, 0};
  const Deployment left_open = resolve_deployment(start, with_project(inputs, project));
  CHECK(left_open.gpu->name == "L4");
  CHECK(left_open.gpu_count == 1);
  CHECK(left_open.version.str() == "0.19.0");
  CHECK_FALSE(left_open.version_assumed);

  EngineStart stated = start;
  stated.gpu.name = Located<std::string>{"NVIDIA-H100-80GB-HBM3", {}};
  stated.gpu.count = Located<uint32_t>{2, {}};
  stated.image = SourceText(std::string("vllm/vllm-openai:v0.20.0"));
  const Deployment said = resolve_deployment(stated, with_project(inputs, project));
  CHECK(said.gpu->name == "H100-80GB");
  CHECK(said.gpu_count == 2);
  CHECK(said.version.str() == "0.20.0");

  inputs.gpu = *find_gpu("T4");
  inputs.engine = Version{0, 11, 0};
  const Deployment given = resolve_deployment(stated, with_project(inputs, project));
  CHECK(given.gpu->name == "T4");
  CHECK(given.version.str() == "0.11.0");
}
