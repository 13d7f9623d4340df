// Figures that the field's articles work out by hand, and one measured run taken apart. The
// articles leave overheads out, so these tests call the parts of the model of memory that remain.

#include <memory>
#include <string>
#include <vector>

#include "lint/memory/layer_specs.h"
#include "lint/memory/plan.h"
#include "lint/memory/weights.h"
#include "lint/resolve_deployment.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::gib;
using memory::kGiB;

namespace {

memory::ModelShape shape_of(const std::string& id) {
  const FindResult found = find_model({}, id, ".");
  REQUIRE(found.files.has_value());
  const ShapeResult read = read_shape(*found.files);
  INFO(read.error);
  REQUIRE(read.shape != nullptr);
  return *read.shape;
}

memory::EngineSettings settings(uint64_t max_model_len, layout::ElementType dtype) {
  memory::EngineSettings result;
  result.release = {1900};
  result.max_model_len = max_model_len;
  result.max_num_seqs = 256;
  result.max_num_batched_tokens = 8192;
  result.dtype = dtype;
  return result;
}

uint64_t requests_that_fit(const memory::ModelShape& model, const memory::EngineSettings& engine,
                           uint64_t bytes) {
  const memory::Planner planner(memory::plan_input(model, engine));
  return static_cast<uint64_t>(planner.plan({static_cast<int64_t>(bytes)}).max_concurrency);
}

uint64_t bytes_per_token(const memory::ModelShape& model, const memory::EngineSettings& engine) {
  return memory::Planner(memory::plan_input(model, engine)).bytes_per_token(0);
}

memory::Estimate estimate_of(const std::vector<std::string>& words) {
  DiskFiles disk;
  SourceStore sources(disk);
  Inputs inputs;
  inputs.sources = &sources;
  inputs.engine = Version{0, 19, 0};
  inputs.gpu = *find_gpu("H100-80GB");
  const FileContents contents = read_command_line(words);
  REQUIRE(contents.starts.size() == 1);
  const Deployment d = resolve_deployment(contents.starts.front(), inputs);
  REQUIRE(d.missing.empty());
  REQUIRE(d.estimate.has_value());
  return *d.estimate;
}

}  // namespace

TEST_CASE(
    "Llama-2-7B in float16: half a MiB a token, 13.5 GB of weights, 30 requests of 4,096 on 80 "
    "GB") {
  memory::ModelShape model = shape_of("meta-llama/Llama-2-7b-hf");
  memory::EngineSettings engine = settings(4096, layout::ElementType::kFloat16);
  const uint64_t weights = memory::parameter_count(model) * 2;
  const uint64_t card = 80'000'000'000;
  CHECK(bytes_per_token(model, engine) == 524'288);
  CHECK(static_cast<double>(weights) / 1e9 == Approx(13.5).margin(0.05));
  CHECK(requests_that_fit(model, engine, card - weights) == 30);

  for (memory::LayerCache& layer : model.caches) layer.kv_heads = 8;
  CHECK(requests_that_fit(model, engine, card - weights) == 123);
  engine.kv_cache_dtype = "fp8";
  CHECK(requests_that_fit(model, engine, card - weights) == 247);
}

TEST_CASE("Llama-3.1-8B: 128 KiB a token, as much cache as weights at 131,072 tokens") {
  const memory::ModelShape model = shape_of("meta-llama/Llama-3.1-8B-Instruct");
  const memory::EngineSettings engine = settings(131'072, layout::ElementType::kBFloat16);
  const memory::Planner planner(memory::plan_input(model, engine));
  CHECK(planner.bytes_per_token(0) == 131'072);
  CHECK(planner.needed_bytes(0, 8192) == kGiB);
  CHECK(planner.needed_bytes(0, 131'072) == 16 * kGiB);
  CHECK(gib(memory::parameter_count(model) * 2) == Approx(14.96).margin(0.005));
}

TEST_CASE(
    "Llama-3.1-8B on one H100 with 72.82 GiB usable and 2 GiB for the runtime serves 55, 13 and 3 "
    "users") {
  const memory::ModelShape model = shape_of("meta-llama/Llama-3.1-8B-Instruct");
  const auto usable = static_cast<uint64_t>(72.82 * static_cast<double>(kGiB));
  const uint64_t left = usable - memory::parameter_count(model) * 2 - 2 * kGiB;
  const auto users = [&](uint64_t length) {
    return requests_that_fit(model, settings(length, layout::ElementType::kBFloat16), left);
  };
  CHECK(users(8 * 1024) == 55);
  CHECK(users(32 * 1024) == 13);
  CHECK(users(128 * 1024) == 3);
}

TEST_CASE("Qwen2.5-7B keeps 57,344 bytes a token") {
  const memory::ModelShape model = shape_of("Qwen/Qwen2.5-7B-Instruct");
  CHECK(bytes_per_token(model, settings(8192, layout::ElementType::kBFloat16)) == 57'344);
}

// A run of 0.19.0 on H100 80 GB logged 58.11 GiB, 29,751 blocks, 476,016 tokens.
TEST_CASE("Llama-3.1-8B at 0.95 of an H100 leaves 58.11 GiB, as measured") {
  const std::vector<std::string> words = {"vllm",
                                          "serve",
                                          "meta-llama/Llama-3.1-8B-Instruct",
                                          "--max-model-len",
                                          "8192",
                                          "--gpu-memory-utilization",
                                          "0.95"};
  const memory::Estimate e = estimate_of(words);
  CHECK(gib(e.available.best) == Approx(58.11).epsilon(0.01));
  CHECK(e.verdict == memory::Verdict::kStarts);
}

TEST_CASE("a cache of given bytes holds exactly the blocks and tokens that the engine logged") {
  std::vector<std::string> words = {"vllm",
                                    "serve",
                                    "meta-llama/Llama-3.1-8B-Instruct",
                                    "--max-model-len",
                                    "8192",
                                    "--kv-cache-memory-bytes",
                                    "62392369152"};
  const memory::Estimate plain = estimate_of(words);
  CHECK(plain.best.num_blocks == 29'751);
  CHECK(plain.best.tokens == 476'016);
  words.insert(words.end(), {"--kv-cache-dtype", "fp8"});
  CHECK(estimate_of(words).best.tokens == 952'032);
}
