// Servers, batch runs, the class LLM and programs of others have defaults of their own.

#include "tests/engine/resolve_fixture.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using namespace kvbudget::testing;

// get_batch_defaults of vllm/engine/arg_utils.py: LLM_CLASS has values of its own, and what is not
// in its tables (OPENAI_BATCH_RUNNER, ENGINE_CONTEXT) has those of SchedulerConfig.
TEST_CASE("batch limits follow what the engine runs in") {
  struct Case {
    const char* version;
    Gpu gpu;
    EngineUse use;
    uint32_t sequences;
    uint32_t tokens;
  };
  const Gpu gb10 = card("NVIDIA GB10", 122000, {12, 1});
  for (const Case& c : {
           Case{"0.8.4", h100(), EngineUse::kOffline, 1024, 16384},
           Case{"0.8.4", a100(), EngineUse::kOffline, 256, 8192},
           Case{"0.9.0", l4(), EngineUse::kOffline, 256, 8192},
           Case{"0.19.0", h100(), EngineUse::kOffline, 1024, 16384},
           Case{"0.19.0", a100(), EngineUse::kOffline, 256, 8192},
           Case{"0.27.0", b200(), EngineUse::kOffline, 1024, 16384},
           Case{"0.28.0", b200(), EngineUse::kOffline, 1024, 16384},
           Case{"0.32.0", gb10, EngineUse::kOffline, 1024, 16384},
           Case{"0.33.0", gb10, EngineUse::kOffline, 256, 8192},
           Case{"0.8.5", h100(), EngineUse::kEmbedded, 1024, 2048},
           Case{"0.9.1", h100(), EngineUse::kBatch, 1024, 2048},
           Case{"0.9.2", h100(), EngineUse::kBatch, 128, 2048},
           Case{"0.19.0", h100(), EngineUse::kBatch, 128, 2048},
           Case{"0.28.0", b200(), EngineUse::kEmbedded, 128, 2048},
           Case{"0.33.0", gb10, EngineUse::kBatch, 128, 2048},
       }) {
    INFO(c.version << " " << c.gpu.device_name << " " << static_cast<int>(c.use));
    const memory::EngineSettings engine =
        resolved(c.version, "M", c.gpu, decoder(), 8192, c.use).engine;
    CHECK(engine.max_num_seqs == c.sequences);
    CHECK(engine.max_num_batched_tokens == c.tokens);
  }
  memory::ModelShape images = decoder();
  images.multimodal = true;
  CHECK(resolved("0.11.0", "M", h100(), images, 8192, EngineUse::kBatch)
            .engine.max_num_batched_tokens == 5120);
  CHECK(resolved("0.11.1", "M", h100(), images, 8192, EngineUse::kBatch)
            .engine.max_num_batched_tokens == 2048);
}
