// `kvbudget plan` on files in memory: what is chosen, written, compared, and with which exit code.
#include "lint/plan/command.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "lint/inputs.h"
#include "lint/plan/json.h"
#include "lint/read/document.h"
#include "lint/resolve_deployment.h"
#include "rules/all_rules.h"
#include "tests/support/catch.h"
#include "tests/support/memory_files.h"
#include "tests/support/pod_text.h"
#include "tests/support/program.h"

using namespace kvbudget;

namespace {

struct Result {
  int code = -1;
  std::string out, err;
};

Result run(MemoryFiles& files, const PlanChoices& choices,
           const std::vector<std::string>& paths = {"chat.yaml"}) {
  SourceStore sources(files);
  Options options;
  options.command = "plan";
  options.paths = paths;
  options.plan = choices;
  InputsResult inputs = read_inputs(options, sources);
  REQUIRE(inputs.inputs);
  inputs.inputs->models.hub_cache.clear();
  Projects projects(sources);
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream in;
  Io io{out, err, in, sources, &projects};
  const int code =
      plan::run_plan(options, all_rules(), resolver_with(*inputs.inputs, projects), io);
  return {code, out.str(), err.str()};
}

MemoryFiles chat(std::vector<const char*> flags = {}) {
  return {{"chat.yaml", test::pod_text({.flags = std::move(flags)})}};
}

PlanChoices to_file(const char* mode = "") { return {"plan.json", mode, "", "", false}; }
PlanChoices in_mode(const char* mode) { return {"", mode, "", "", false}; }
PlanChoices one_called(const char* name) { return {"", "", name, "", false}; }
PlanChoices checking(const char* mode = "") { return {"", mode, "", "plan.json", false}; }

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const Node& root_of(const Document& document, size_t index) { return *document.roots.at(index); }

}  // namespace

TEST_CASE("without -o the plan goes to standard output, with it to the file") {
  MemoryFiles files = chat();
  const Result shown = run(files, {});
  CHECK(shown.code == kClean);
  CHECK(shown.err.empty());
  const Result written = run(files, to_file());
  CHECK(written.code == kClean);
  CHECK(written.out.empty());
  CHECK(files.text("plan.json") == shown.out);
  const Json plan = Json::parse(shown.out);
  CHECK(plan["admission"]["mode"] == "strict");
  CHECK(plan["usable_blocks"] == plan["num_blocks"].get<uint64_t>() - 1);
  CHECK(plan["flags"][0] ==
        "--kv-cache-memory-bytes=" + std::to_string(plan["num_blocks"].get<uint64_t>() *
                                                    plan["bytes_per_block"].get<uint64_t>()));
  CHECK(plan["flags"][1] == "--scheduler-cls=kvbudget.vllm.make_scheduler");
}

TEST_CASE("a plan that was written is current until the deployment changes") {
  MemoryFiles files = chat();
  CHECK(run(files, to_file("observe")).code == kClean);
  CHECK(run(files, checking()).code == kClean);  // the mode was the writer's choice
  const Result strict = run(files, checking("strict"));
  CHECK(strict.code == kFindings);
  CHECK(has(strict.out, "plan.json: admission.mode: \"observe\" -> \"strict\"\n"));
  files.write("chat.yaml", test::pod_text({.flags = {"--max-num-seqs=64", "--block-size=32"}}));
  const Result changed = run(files, checking());
  CHECK(changed.code == kFindings);
  CHECK(has(changed.out, "plan.json: max_num_seqs: 1024 -> 64\n"));
  CHECK(has(changed.out, "plan.json: block_size: 16 -> 32\n"));
  CHECK(has(changed.out, "plan.json: num_blocks: "));
  CHECK_FALSE(has(changed.out, "plan.json: model: "));
}

TEST_CASE("a plan to compare with that is none cannot be compared with") {
  MemoryFiles files = chat();
  CHECK(run(files, checking()).code == kFailed);
  files.write("plan.json", "[1");
  const Result result = run(files, checking());
  CHECK(result.code == kFailed);
  CHECK(result.err == "kvbudget: plan: plan.json: not a plan\n");
}

TEST_CASE("of several engine starts one is chosen by name or place") {
  std::string two = test::pod_text({});
  std::string other = test::pod_text({.flags = {"--max-num-seqs=64"}});
  other.replace(other.find("name: chat"), 10, "name: batch");
  MemoryFiles files({{"chat.yaml", two + "---" + other}});
  const Result both = run(files, {});
  CHECK(both.code == kUsage);
  CHECK(
      has(both.err, "2 engine starts; choose one with --deployment: Pod/chat/vllm at chat.yaml:"));
  CHECK(has(both.err, "Pod/batch/vllm"));
  const Result batch = run(files, one_called("batch"));
  REQUIRE(batch.code == kClean);
  CHECK(Json::parse(batch.out)["max_num_seqs"] == 64);
  CHECK(run(files, one_called("Pod/chat/vllm")).code == kClean);
  CHECK(run(files, one_called("vllm")).code == kUsage);
  const Result none = run(files, one_called("bach"));
  CHECK(none.code == kUsage);
  CHECK(has(none.err, "no deployment 'bach'; there are Pod/chat/vllm"));
}

TEST_CASE("without an engine, an estimate or room for a request there is no plan") {
  MemoryFiles files({{"chat.yaml", "a: 1\n"}});
  CHECK(run(files, {}).code == kFailed);
  files.write("chat.yaml", test::pod_text({.model = "no/such-model", .flags = {}}));
  const Result unknown = run(files, to_file());
  CHECK(unknown.code == kFailed);
  CHECK(has(unknown.err, "no config.json for 'no/such-model'"));
  CHECK(files.kind("plan.json") == FileKind::kMissing);
  files.write(
      "chat.yaml",
      test::pod_text({.gpu = "NVIDIA-L4", .model = "Qwen/Qwen2.5-32B-Instruct", .flags = {}}));
  CHECK(run(files, {}).code == kFailed);
}

TEST_CASE("wrong choices are wrong usage") {
  MemoryFiles files = chat();
  CHECK(run(files, in_mode("stric")).err ==
        "kvbudget: plan: --mode: no mode 'stric'; did you mean 'strict'?\n");
  CHECK(run(files, in_mode("stric")).code == kUsage);
  CHECK(run(files, {}, {}).code == kUsage);
  CHECK(run(files, {"x", "", "", "plan.json", false}).code == kUsage);
}

TEST_CASE("tenants come from the project file and must fit together") {
  MemoryFiles files = chat();
  files.write(
      ".kvbudget.yaml",
      "admission:\n  mode: optimistic\n  max-hold-seconds: 5\n"
      "  tenants: [{name: chat, weight: 2, min-blocks: 100}, {name: batch, max-blocks: 50}]\n");
  const Result result = run(files, {});
  REQUIRE(result.code == kClean);
  const Json plan = Json::parse(result.out);
  CHECK(plan["admission"] ==
        Json({{"mode", "optimistic"},
              {"max_pending", 0},
              {"max_hold_seconds", 5.0},
              {"tenants",
               {{{"name", "chat"},
                 {"weight", 2.0},
                 {"min_blocks", 100},
                 {"max_blocks", plan["usable_blocks"]}},
                {{"name", "batch"}, {"weight", 1.0}, {"min_blocks", 0}, {"max_blocks", 50}}}}}));
  CHECK(Json::parse(run(files, in_mode("strict")).out)["admission"]["mode"] == "strict");
  files.write(
      ".kvbudget.yaml",
      "admission: {tenants: [{name: a, min-blocks: 900000}, {name: b, min-blocks: 900000}]}\n");
  const Result greedy = run(files, {});
  CHECK(greedy.code == kFailed);
  CHECK(has(greedy.err, "the tenants' min-blocks are 1,800,000 together"));
}

TEST_CASE("snippets are valid YAML that holds the flags, the plan, its mount and the alerts") {
  MemoryFiles files = chat({R"(--additional-config={"owner":"o''brien"})"});
  const Result plan = run(files, {});
  const Result result = run(files, {"", "", "", "", true});
  REQUIRE(result.code == kClean);
  const SourceFile text("snippets.yaml", result.out);
  const Document document = parse_yaml(text);
  REQUIRE(document.errors.empty());
  REQUIRE(document.roots.size() == 4);
  const Json flags = Json::parse(plan.out)["flags"];
  const Node* args = root_of(document, 0).find("args");
  REQUIRE(args != nullptr);
  REQUIRE(args->items.size() == flags.size());
  for (size_t i = 0; i < flags.size(); ++i) CHECK(args->items[i]->scalar() == flags[i]);
  const Node* data = root_of(document, 1).find("data");
  REQUIRE(data != nullptr);
  CHECK(data->find("plan.json")->scalar() == plan.out);
  CHECK(root_of(document, 2).find("volumes") != nullptr);
  const Node* groups = root_of(document, 3).find("groups");
  REQUIRE(groups != nullptr);
  std::string expressions;
  for (const NodePtr& rule : groups->items.at(0)->find("rules")->items) {
    expressions += std::string(rule->find("expr")->scalar()) + "\n";
  }
  for (const char* metric : {"kvbudget_budget_blocks", "kvbudget_reserved_blocks",
                             "kvbudget_pending_requests", "kvbudget_reconcile_drift_blocks"}) {
    CHECK(has(expressions, metric));
  }
}

// Accept a change that is meant with KVB_APPROVE=1. The sizes are those of the estimate, so a
// better estimate changes this file.
TEST_CASE("plan writes the approved file") {
  const Outcome outcome = run_program("plan fixtures/deployments/ok/llama-8b-on-l4.yaml");
  REQUIRE(outcome.code == 0);
  const std::string path = KVB_SOURCE_DIR "/fixtures/formats/plan.approved";
  if (std::getenv("KVB_APPROVE") != nullptr) std::ofstream(path) << outcome.output;
  std::ifstream file(path, std::ios::binary);
  CHECK(outcome.output == std::string(std::istreambuf_iterator<char>(file), {}));
}
