// What keeps an engine from starting is said once: by one rule, as an error where it is certain.

#include "rules/obstacle_rule.h"

#include <string>
#include <vector>

#include "tests/support/all_findings.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using memory::kGiB;
using memory::Obstacle;

namespace {

// A decoder of 16 layers, 64 KiB a token in 16 bit, with `weight_gib` of weights.
memory::ModelShape model_of(uint64_t weight_gib) {
  memory::ModelShape model;
  model.model_type = "llama";
  model.num_layers = 16;
  model.hidden_size = 4096;
  model.intermediate_size = 8192;
  model.num_heads = 32;
  model.vocab_size = 32000;
  memory::Weight weight;
  weight.rows = weight_gib * 512;
  weight.columns = memory::kMiB;
  weight.place = memory::Place::kFirstStage;
  model.weights = {weight};
  for (uint32_t i = 0; i < model.num_layers; ++i) {
    memory::LayerCache layer;
    layer.layer = i;
    layer.kv_heads = 8;
    layer.head_dim = layer.value_head_dim = 128;
    model.caches.push_back(layer);
  }
  return model;
}

memory::ModelShape hybrid() {
  memory::ModelShape model = model_of(4);
  for (uint32_t i = 0; i < 12; ++i) {
    model.caches[i].kind = memory::CacheKind::kMamba;
    model.caches[i].state = {{{32, 128, 1024}, 0}};
  }
  return model;
}

Deployment deployment_of(const memory::ModelShape& model) {
  Deployment d;
  d.version = {0, 20, 0};
  d.version_assumed = false;
  d.model = "acme/decoder";
  d.shape = std::make_shared<memory::ModelShape>(model);
  d.gpu = Gpu{"card", 24 * kGiB, {8, 9}, "nvidia", "card", "", 0, 0};
  d.engine.release = {2000};
  d.engine.max_model_len = 8192;
  d.engine.max_num_seqs = 64;
  d.engine.max_num_batched_tokens = 2048;
  d.engine.cudagraph_sizes = 35;
  d.engine.max_cudagraph_size = 128;
  return d;
}

void set(Deployment& d, const std::string& name, const std::string& value) {
  Setting setting;
  setting.value = value;
  d.settings.set(name, setting);
}

struct Case {
  Obstacle obstacle;
  std::string rule;
  Deployment d;
};

std::vector<Case> settings_cases() {
  std::vector<Case> cases;
  Deployment d = deployment_of(model_of(4));
  cases.push_back({Obstacle::kNone, "", d});
  d.engine.tensor_parallel = 3;
  cases.push_back({Obstacle::kHeadsNotDivisible, "KVB301", d});
  d = deployment_of(model_of(4));
  d.engine.max_model_len = 65536;
  d.engine.model_length_limit = d.context.limit_tokens = 32768;
  d.context_checked = true;
  set(d, "max-model-len", "65536");
  cases.push_back({Obstacle::kLengthAboveModel, "KVB404", d});
  d = deployment_of(hybrid());
  d.engine.prefix_caching = true;
  d.engine.mamba_cache_mode = "align";
  d.engine.max_num_batched_tokens = 128;
  cases.push_back({Obstacle::kBlockExceedsBatch, "KVB122", d});
  d = deployment_of(model_of(4));
  d.engine.gpu_memory_utilization = 0.999;
  cases.push_back({Obstacle::kBudgetExceedsFree, "KVB105", d});
  return cases;
}

std::vector<Case> memory_cases() {
  std::vector<Case> cases;
  cases.push_back({Obstacle::kWeightsExceedBudget, "KVB101", deployment_of(model_of(40))});
  cases.push_back({Obstacle::kNoRoomForCache, "KVB102", deployment_of(model_of(21))});
  Deployment d = deployment_of(model_of(8));
  d.engine.max_num_batched_tokens = 1 << 18;
  cases.push_back({Obstacle::kActivationExceedsMemory, "KVB109", d});
  memory::ModelShape wordy = model_of(8);
  wordy.vocab_size = 256'000;
  d = deployment_of(wordy);
  d.engine.release = {1000};
  d.engine.max_num_seqs = 2048;
  cases.push_back({Obstacle::kActivationExceedsMemory, "KVB107", d});
  memory::ModelShape sees = model_of(8);
  sees.multimodal = true;
  sees.encoder = {16384, 1 << 20, uint64_t{10} << 30};
  cases.push_back({Obstacle::kActivationExceedsMemory, "KVB110", deployment_of(sees)});
  d = deployment_of(model_of(8));
  d.engine.max_model_len = 1 << 20;
  cases.push_back({Obstacle::kContextTooLong, "KVB104", d});
  set(d, "max-model-len", "1048576");
  cases.push_back({Obstacle::kContextTooLong, "KVB103", d});
  d = deployment_of(model_of(8));
  d.engine.num_gpu_blocks_override = 100;
  cases.push_back({Obstacle::kContextTooLong, "KVB117", d});
  d.engine.num_gpu_blocks_override = 100'000;
  cases.push_back({Obstacle::kCacheExceedsMemory, "KVB117", d});
  d = deployment_of(model_of(8));
  d.engine.kv_cache_memory_bytes = 20 * kGiB;
  cases.push_back({Obstacle::kCacheExceedsMemory, "KVB116", d});
  d = deployment_of(hybrid());
  d.engine.max_num_seqs = 1024;
  d.engine.kv_cache_memory_bytes = 2 * kGiB;
  cases.push_back({Obstacle::kStateBlocksTooFew, "KVB118", d});
  d = deployment_of(model_of(14));
  d.shape = std::make_shared<memory::ModelShape>(model_of(14));
  d.engine.dtype = memory::ElementType::kFloat32;
  cases.push_back({Obstacle::kWeightsExceedBudget, "KVB120", d});
  return cases;
}

std::vector<Case> late_cases() {
  std::vector<Case> cases;
  Deployment d = deployment_of(model_of(8));
  d.engine.model_runner_v2 = true;
  d.engine.gpu_memory_utilization = 0.95;
  d.engine.max_num_seqs = d.engine.max_num_batched_tokens = 8192;
  cases.push_back({Obstacle::kSamplerExceedsMemory, "KVB107", d});
  memory::ModelShape deep = model_of(8);
  deep.num_layers = 2000;  // graphs grow with layers
  d = deployment_of(deep);
  d.engine.release = {800};
  d.engine.v0_engine = true;
  d.engine.gpu_memory_utilization = 0.95;
  cases.push_back({Obstacle::kGraphsExceedMemory, "KVB108", d});
  return cases;
}

std::vector<std::string> errors_of_all_rules(const Deployment& d) {
  std::vector<std::string> errors;
  for (const Diagnostic& finding : test::findings_on(d)) {
    if (finding.severity == Severity::kError) errors.emplace_back(finding.rule);
  }
  return errors;
}

void check_cases(std::vector<Case> cases) {
  for (Case& c : cases) {
    c.d.estimate = memory::estimate(*c.d.shape, c.d.engine, c.d.card());
    INFO(c.rule << ": " << c.d.estimate->because);
    CHECK(c.d.estimate->obstacle == c.obstacle);
    CHECK(c.d.estimate->obstacle_certain == (c.obstacle != Obstacle::kNone));
    CHECK(rule_of_obstacle(c.d) == c.rule);
    const std::vector<std::string> wanted(c.rule.empty() ? 0 : 1, c.rule);
    CHECK(errors_of_all_rules(c.d) == wanted);
  }
}

}  // namespace

TEST_CASE("one rule names what the engine's own checks refuse") { check_cases(settings_cases()); }

TEST_CASE("one rule names what memory runs out of") { check_cases(memory_cases()); }

TEST_CASE("one rule names what is left without room once the cache is there") {
  check_cases(late_cases());
}

TEST_CASE("lack of headroom that is only possible is said once, by the utilisation") {
  Deployment d = deployment_of(model_of(8));
  d.engine.gpu_memory_utilization = 0.98;
  set(d, "gpu-memory-utilization", "0.98");
  d.estimate = memory::estimate(*d.shape, d.engine, d.card());
  REQUIRE(memory::is_beside_budget(d.estimate->obstacle));
  REQUIRE_FALSE(d.estimate->obstacle_certain);
  CHECK(rule_of_obstacle(d) == "KVB106");
  CHECK(errors_of_all_rules(d).empty());
}
