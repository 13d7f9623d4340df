#include "lint/memory/lora.h"

#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using test::shape_of;

namespace {

std::string config(const std::string& architecture, const std::string& more = "") {
  return R"({"architectures": [")" + architecture + R"("], "num_hidden_layers": 2,
    "hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
    "intermediate_size": 512, "vocab_size": 1024, "max_position_embeddings": 512,
    "tie_word_embeddings": false)" +
         more + "}";
}

memory::EngineSettings settings_of(uint32_t release) {
  memory::EngineSettings settings;
  settings.release = {release};
  settings.lora.slots = 3;
  settings.lora.rank = 16;
  return settings;
}

constexpr uint64_t kBytes = 3 * 16 * 2;  // of one row or column in all slots

}  // namespace

TEST_CASE("slots are as large as the engine's stacks") {
  struct Case {
    const char* architecture;
    uint64_t bytes;
  };
  // Stacks of LoRAModelManager of vLLM 0.32 over these configs, three slots of rank 16.
  const Case cases[] = {{"LlamaForCausalLM", 1032192}, {"Qwen2ForCausalLM", 786432}};
  for (const Case& c : cases) {
    INFO(c.architecture);
    const ShapeResult read = shape_of(config(c.architecture));
    REQUIRE(read.shape);
    CHECK(memory::lora_bytes(*read.shape, settings_of(3200), 0) == c.bytes);
    CHECK(memory::lora_bytes(*read.shape, memory::EngineSettings{}, 0) == 0);
  }
}

TEST_CASE("tensor parallelism divides one side of each slot, fully sharded ones both") {
  const ShapeResult read = shape_of(config("Qwen2ForCausalLM"));
  REQUIRE(read.shape);
  memory::EngineSettings settings = settings_of(3200);
  settings.tensor_parallel = 2;
  constexpr uint64_t kInputs = 3 * 256 + 128 + 2 * 256 + 256;         // qkv, o, gate and up, down
  constexpr uint64_t kOutputs = 128 + 64 + 64 + 256 + 2 * 256 + 256;  // likewise
  CHECK(memory::lora_bytes(*read.shape, settings, 0) == 2 * kBytes * (kInputs + kOutputs));
  settings.lora.fully_sharded = true;
  constexpr uint64_t kHalved = (3 * 256 + 2 * 256) / 2 + 128 + 256;
  constexpr uint64_t kHalvedOutputs = 128 + 64 + 64 + 2 * 256 + (256 + 256) / 2;
  CHECK(memory::lora_bytes(*read.shape, settings, 0) == 2 * kBytes * (kHalved + kHalvedOutputs));
  settings.pipeline_parallel = 2;
  CHECK(memory::lora_bytes(*read.shape, settings, 1) == kBytes * (kHalved + kHalvedOutputs));
}

TEST_CASE("a checkpoint's one matrix for queries, keys and values takes one adapter") {
  const ShapeResult read = shape_of(config("Phi3ForCausalLM"));
  REQUIRE(read.shape);
  constexpr uint64_t kInputs = 256 + 256 + 256 + 512;
  constexpr uint64_t kOutputs = 512 + 256 + 2 * 512 + 256;
  CHECK(memory::lora_bytes(*read.shape, settings_of(3200), 0) == 2 * kBytes * (kInputs + kOutputs));
}

TEST_CASE("experts have slots from 0.11.1, each of them") {
  const ShapeResult read = shape_of(config("Qwen3MoeForCausalLM", R"(, "num_experts": 16,
    "num_experts_per_tok": 2, "moe_intermediate_size": 128)"));
  REQUIRE(read.shape);
  constexpr uint64_t kAttention = 3 * 256 + 512 + 256 + 256;
  constexpr uint64_t kRouter = 256 + 16;
  constexpr uint64_t kExpert = 2 * (256 + 128) + 128 + 256;
  CHECK(memory::lora_bytes(*read.shape, settings_of(1101), 0) ==
        2 * kBytes * (kAttention + kRouter + 16 * kExpert));
  memory::EngineSettings settings = settings_of(1100);
  settings.lora.extra_vocabulary = 256;
  CHECK(memory::lora_bytes(*read.shape, settings, 0) == 2 * kBytes * (kAttention + kRouter));
  settings = settings_of(3200);
  settings.lora.shared_experts = true;
  constexpr uint64_t kShared = 2 * 256 + 16 * 2 * 128 + 16 * 128 + 256;
  constexpr uint64_t kWords = 2 * (1024 + 256);  // embeddings and head, from 0.16
  CHECK(memory::lora_bytes(*read.shape, settings, 0) ==
        kBytes * (2 * (kAttention + kRouter + kShared) + kWords));
  settings.expert_parallel = true;
  settings.tensor_parallel = 4;
  settings.lora.shared_experts = false;
  constexpr uint64_t kQuarter = 3 * 256 + 3 * 64 + 64 + 256;
  CHECK(memory::lora_bytes(*read.shape, settings, 0) ==
        kBytes * (2 * (kQuarter + kRouter + 4 * kExpert) + kWords));
}

TEST_CASE("up to 0.11 adapters may add words") {
  const ShapeResult read = shape_of(config("LlamaForCausalLM"));
  REQUIRE(read.shape);
  memory::EngineSettings settings = settings_of(1102);
  settings.lora.extra_vocabulary = 256;
  constexpr uint64_t kAdded = 3 * 256 * 256 * 2;  // words x width x bytes
  // Each slot's embeddings know its words; the head knows all, padded to 256. Model and slots have
  // both a place for them.
  constexpr uint64_t kPlain = 1032192;
  constexpr uint64_t kMoreRows = kBytes * (256 + 3 * 256);
  CHECK(memory::lora_bytes(*read.shape, settings, 0) == kPlain + kMoreRows + 4 * kAdded);
}
