// KVB121 beyond its examples: which plans count, and what enforces them.
#include <string>

#include "tests/support/catch.h"
#include "tests/support/lint_text.h"
#include "tests/support/pod_text.h"

using namespace kvbudget;

namespace {

constexpr const char* kPlan = R"({"schema": 1, "model": "Qwen/Qwen2.5-7B-Instruct",
  "usable_blocks": 2999, "flags": ["--kv-cache-memory-bytes=2752512000"]})";
constexpr const char* kScheduler = "--scheduler-cls=kvbudget.vllm.make_scheduler";

bool speaks(std::vector<const char*> flags, const std::string& plan_name = "kvbudget-plan.json",
            const std::string& plan = kPlan) {
  const std::string pod = test::pod_text({.flags = std::move(flags)});
  for (const auto& [line, rule] :
       test::found("deploy/pod.yaml", pod, {{"deploy/" + plan_name, plan}})) {
    if (rule == "KVB121") return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a plan beside the deployment wants its scheduler and its pool") {
  CHECK(speaks({}));
  CHECK(speaks({kScheduler}));
  CHECK(speaks({"--kv-cache-memory-bytes=2752512000"}));
  CHECK(speaks({"--kv-cache-memory-bytes=2752512001", kScheduler}));
  CHECK(speaks({"--kv-cache-memory-bytes=2752512000", "--scheduler-cls=mine.Scheduler"}));
  CHECK(speaks({"--num-gpu-blocks-override=3000", kScheduler}));
  CHECK_FALSE(speaks({"--kv-cache-memory-bytes=2752512000", kScheduler}));
  CHECK_FALSE(speaks({"--kv-cache-memory-bytes=${BYTES}", "--scheduler-cls=${SCHEDULER}"}));
}

TEST_CASE("only plans of the same model count") {
  CHECK(speaks({}, "chat.kvbudget-plan.json"));
  CHECK_FALSE(speaks({}, "plan.json"));
  CHECK_FALSE(speaks({}, "sub/kvbudget-plan.json"));
  CHECK_FALSE(speaks({}, "kvbudget-plan.json", "{"));
  CHECK_FALSE(speaks({}, "kvbudget-plan.json", R"({"model": "Qwen/Qwen2.5-7B-Instruct"})"));
  std::string other = kPlan;
  other.replace(other.find("7B"), 2, "3B");
  CHECK_FALSE(speaks({}, "kvbudget-plan.json", other));
}

TEST_CASE("a plan file itself starts no engine and is no broken manifest") {
  CHECK(test::found("kvbudget-plan.json", kPlan).empty());
}
