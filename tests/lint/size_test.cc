#include "lint/size.h"

#include <algorithm>

#include "lint/inputs.h"
#include "lint/resolve_deployment.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

SizeResult sizes(const SizeRequest& request) {
  Inputs inputs;
  inputs.engine = Version{0, 19, 0};
  return find_sizes(request,
                    [&](const EngineStart& start) { return resolve_deployment(start, inputs); });
}

const Deployment* option_on(const SizeResult& result, std::string_view gpu) {
  const auto found = std::find_if(result.options.begin(), result.options.end(),
                                  [&](const Deployment& d) { return d.gpu->name == gpu; });
  return found == result.options.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("slices of a card are never joined") {
  const SizeResult result = sizes({"Qwen/Qwen2.5-32B-Instruct", 8192, 8, ""});
  REQUIRE(option_on(result, "A100-40GB") != nullptr);
  for (const Deployment& d : result.options) {
    INFO(d.gpu->name);
    CHECK((d.gpu_count == 1 || d.gpu->name.find("MIG") == std::string::npos));
  }
}

TEST_CASE("every option serves the request at the pessimistic end, fewest GPUs first") {
  const SizeResult result = sizes({"meta-llama/Llama-3.1-8B-Instruct", 8192, 8, ""});
  REQUIRE(result.error.empty());
  REQUIRE(result.options.size() > 10);
  uint32_t before = 0;
  for (const Deployment& d : result.options) {
    INFO(d.gpu->name);
    CHECK(d.estimate->verdict == memory::Verdict::kStarts);
    CHECK(d.estimate->low.max_concurrency >= 8);
    CHECK(d.engine.tensor_parallel == d.gpu_count);
    CHECK(d.gpu_count >= before);
    before = d.gpu_count;
  }
}

TEST_CASE("more requests take more cards, or an 8-bit cache where that is enough") {
  const SizeRequest few{"meta-llama/Llama-3.1-8B-Instruct", 8192, 2, "L4"};
  const SizeRequest some{"meta-llama/Llama-3.1-8B-Instruct", 8192, 6, "L4"};
  const SizeRequest many{"meta-llama/Llama-3.1-8B-Instruct", 8192, 30, "L4"};
  CHECK(option_on(sizes(few), "L4")->gpu_count == 1);
  CHECK(option_on(sizes(few), "L4")->engine.kv_cache_dtype == "auto");
  CHECK(option_on(sizes(some), "L4")->gpu_count == 1);
  CHECK(option_on(sizes(some), "L4")->engine.kv_cache_dtype == "fp8");
  CHECK(option_on(sizes(many), "L4")->gpu_count > 1);
}

TEST_CASE("a model that is not known, and a length it was not built for, are errors") {
  CHECK(sizes({"example-org/none", 8192, 1, ""}).error.find("example-org/none") !=
        std::string::npos);
  CHECK(sizes({"Qwen/Qwen2.5-7B-Instruct", 1'000'000, 1, ""}).error.find("1,000,000") !=
        std::string::npos);
}
