#include "lint/engine/resolve.h"

#include "lint/engine/cudagraph.h"
#include "lint/engine/defaults.h"
#include "lint/engine/flags.h"
#include "lint/engine/table.h"
#include "tests/engine/resolve_fixture.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using namespace kvbudget::testing;

TEST_CASE("every row of the defaults can be read") {
  const Settings settings = read_settings(start_of("M"), newest_version(), nullptr);
  const DefaultFacts facts{settings, newest_version()};
  REQUIRE(default_rows().size() > 100);
  for (const DefaultRow& row : default_rows()) {
    INFO(row.setting << " " << row.conditions);
    CHECK(row.since);
    CHECK_FALSE(row.value.empty());
    CHECK_FALSE(row.source.empty());
    for (const std::string_view word : split(row.conditions, ' ')) {
      INFO(word);
      CHECK(condition_holds(word, facts).has_value());
    }
    std::string_view name = row.setting;
    if (name.ends_with('!')) name.remove_suffix(1);
    if (name.front() != '(') CHECK(find_flag(name));
  }
  CHECK_FALSE(condition_holds("no-such-word", facts).has_value());
}

// Measured: 54 runs of 0.19.0 on H100 80 GB from public benchmark logs (llm-d planner).
TEST_CASE("0.19.0 on an H100 runs 1024 sequences, 8192 tokens and 51 graph sizes up to 512") {
  const memory::EngineSettings engine = engine_of("0.19.0", "M", h100());
  CHECK(engine.max_num_seqs == 1024);
  CHECK(engine.max_num_batched_tokens == 8192);
  CHECK(engine.cudagraph_sizes == 51);
  CHECK(engine.max_cudagraph_size == 512);
  CHECK(engine.release.number == 1900);
  CHECK(engine.gpu_memory_utilization == 0.9);
  CHECK(engine.block_tokens == 16);
  CHECK(engine.prefix_caching);
  CHECK(engine.async_scheduling);
  CHECK(engine.hybrid_kv_cache_manager);
}

TEST_CASE("batch limits follow the release and the size of the card") {
  struct Case {
    const char* version;
    Gpu gpu;
    uint32_t sequences;
    uint32_t tokens;
  };
  for (const Case& c : {
           Case{"0.7.3", h100(), 256, 8192},  // V0: max(max_model_len, 2048)
           Case{"0.8.3", l4(), 1024, 2048},   // 1024 on every GPU for four releases
           Case{"0.8.4", l4(), 256, 2048},
           Case{"0.8.4", a100(), 256, 2048},  // by name until 0.8.5
           Case{"0.8.4", h100(), 1024, 8192},
           Case{"0.8.5", a100(), 1024, 8192},
           Case{"0.9.0", a100(), 256, 2048},  // A100 left out by name
           Case{"0.19.0", l4(), 256, 2048},
           Case{"0.27.0", b200(), 1024, 8192},
           Case{"0.28.0", b200(), 1024, 16384},
           Case{"0.33.0", h100(), 1024, 8192},
       }) {
    INFO(c.version << " " << c.gpu.device_name);
    const memory::EngineSettings engine = engine_of(c.version, "M", c.gpu);
    CHECK(engine.max_num_seqs == c.sequences);
    CHECK(engine.max_num_batched_tokens == c.tokens);
  }
}

TEST_CASE("batch limits bend to each other and to the user's values") {
  CHECK(engine_of("0.19.0", "M --max-num-seqs 2 --max-model-len 100", h100())
            .max_num_batched_tokens == 200);
  CHECK(engine_of("0.19.0", "M --max-num-batched-tokens 128", h100()).max_num_seqs == 128);
  CHECK(engine_of("0.19.0", "M --max-num-batched-tokens 128 --max-num-seqs 300", h100())
            .max_num_seqs == 300);
  CHECK(engine_of("0.10.0", "M --max-num-batched-tokens 128", h100()).max_num_seqs == 1024);
  CHECK(engine_of("0.19.0", "M --no-enable-chunked-prefill --max-model-len 32k", h100())
            .max_num_batched_tokens == 32000);
  CHECK(engine_of("0.19.0", "M --no-enable-chunked-prefill --max-model-len 4096", h100())
            .max_num_batched_tokens == 8192);
  // 0.10 overwrites the user's "off".
  CHECK(engine_of("0.10.2", "M --no-enable-chunked-prefill --max-model-len 32k", h100())
            .max_num_batched_tokens == 8192);
  const auto fast = engine_of("0.19.0", "M --performance-mode throughput", l4());
  CHECK(fast.max_num_seqs == 512);
  CHECK(fast.max_num_batched_tokens == 4096);
}

TEST_CASE("utilization rose in 0.20.0") {
  CHECK(engine_of("0.19.1", "M", l4()).gpu_memory_utilization == 0.9);
  CHECK(engine_of("0.20.0", "M", l4()).gpu_memory_utilization == 0.92);
  CHECK(engine_of("0.20.0", "M --gpu-memory-utilization .85", l4()).gpu_memory_utilization == 0.85);
}

TEST_CASE("the graph sizes follow sequences, tokens, speculation and the card") {
  struct Case {
    const char* version;
    const char* words;
    Gpu gpu;
    uint32_t count;
    uint32_t largest;
  };
  for (const Case& c : {
           Case{"0.9.0", "M", h100(), 67, 512},
           Case{"0.11.0", "M", h100(), 67, 512},
           Case{"0.11.1", "M", h100(), 51, 512},
           Case{"0.19.0", "M", l4(), 51, 512},
           Case{"0.19.0", "M --max-num-seqs 8", h100(), 5, 16},
           Case{"0.19.0",
                "M --max-num-seqs 8 --speculative-config {\"method\":\"eagle\",\"num_"
                "speculative_tokens\":3}",
                h100(), 11, 64},
           Case{"0.28.0", "M", b200(), 83, 1024},
           Case{"0.27.0", "M", b200(), 51, 512},
           Case{"0.19.0", "M --enforce-eager", h100(), 0, 0},
           Case{"0.19.0", "M -O0", h100(), 0, 0},
           Case{"0.19.0", "M -O2", h100(), 51, 512},
           Case{"0.10.2", "M -O0", h100(), 0, 0},
           Case{"0.19.0", "M -cc.cudagraph_mode=NONE", h100(), 0, 0},
           Case{"0.19.0", "M -O0 -cc.cudagraph_mode=FULL", h100(), 51, 512},
           Case{"0.19.0", "M --max-cudagraph-capture-size 64", h100(), 11, 64},
           Case{"0.19.0", "M --cudagraph-capture-sizes 1 2 4 100", h100(), 4, 100},
           Case{"0.10.2", "M --cuda-graph-sizes 64", h100(), 11, 64},
           Case{"0.10.2", "M --cuda-graph-sizes 8 64", h100(), 2, 64},
           Case{"0.19.0", "M --compilation-config {\"cudagraph_capture_sizes\":[1,8]}", h100(), 2,
                8},
           Case{"0.20.0", "M --max-num-batched-tokens 100", h100(), 16, 100},
           Case{"0.19.0", "M --max-num-batched-tokens 100", h100(), 15, 96},
           Case{"0.31.0", "M --max-num-seqs 60", h100(), 19, 120},
       }) {
    INFO(c.version << " " << c.words << " " << c.gpu.device_name);
    const memory::EngineSettings engine = engine_of(c.version, c.words, c.gpu);
    CHECK(engine.cudagraph_sizes == c.count);
    CHECK(engine.max_cudagraph_size == c.largest);
  }
}

TEST_CASE("hybrids cache prefixes by default from 0.28 and keep their states accordingly") {
  CHECK_FALSE(engine_of("0.27.0", "M", h100(), hybrid()).prefix_caching);
  CHECK(engine_of("0.27.0", "M", h100(), hybrid()).mamba_cache_mode == "none");
  CHECK(engine_of("0.28.0", "M", h100(), hybrid()).prefix_caching);
  CHECK(engine_of("0.28.0", "M", h100(), hybrid()).mamba_cache_mode == "align");
  CHECK(engine_of("0.19.0", "M --enable-prefix-caching", h100(), hybrid()).mamba_cache_mode ==
        "align");
  CHECK_FALSE(engine_of("0.10.2", "M --enable-prefix-caching", h100(), hybrid()).prefix_caching);
  const memory::ModelShape states = model_with({memory::CacheKind::kMamba});
  CHECK_FALSE(engine_of("0.33.0", "M", h100(), states).prefix_caching);
  const memory::ModelShape whisper =
      model_with({memory::CacheKind::kFull, memory::CacheKind::kCross});
  CHECK_FALSE(engine_of("0.32.0", "M", h100(), whisper).prefix_caching);
  CHECK_FALSE(resolved("0.32.0", "M --enable-chunked-prefill", h100(), whisper).chunked_prefill);
}

TEST_CASE("the hybrid manager stays off before 0.9.1 and with old KV connectors") {
  CHECK_FALSE(engine_of("0.9.0", "M", h100()).hybrid_kv_cache_manager);
  CHECK(engine_of("0.9.1", "M", h100()).hybrid_kv_cache_manager);
  CHECK_FALSE(engine_of("0.19.0", "M --kv-transfer-config {}", h100()).hybrid_kv_cache_manager);
  CHECK(
      engine_of("0.19.0", "M --kv-transfer-config {} --no-disable-hybrid-kv-cache-manager", h100())
          .hybrid_kv_cache_manager);
  CHECK(engine_of("0.23.0", "M --kv-transfer-config {}", h100()).hybrid_kv_cache_manager);
  const memory::ModelShape llama4 =
      model_with({memory::CacheKind::kChunked, memory::CacheKind::kFull});
  CHECK_FALSE(engine_of("0.13.0", "M", h100(), llama4).hybrid_kv_cache_manager);
  CHECK(engine_of("0.14.0", "M", h100(), llama4).hybrid_kv_cache_manager);
}

TEST_CASE("async scheduling is on from 0.14 unless something stands against it") {
  CHECK_FALSE(engine_of("0.13.0", "M", h100()).async_scheduling);
  CHECK(engine_of("0.14.0", "M", h100()).async_scheduling);
  CHECK_FALSE(engine_of("0.14.0", "M -pp 2", h100()).async_scheduling);
  CHECK(engine_of("0.15.0", "M -pp 2", h100()).async_scheduling);
  const char* ngram = "M --speculative-config {\"method\":\"ngram\",\"num_speculative_tokens\":4}";
  CHECK_FALSE(engine_of("0.19.0", ngram, h100()).async_scheduling);
  const char* mtp = "M --speculative-config {\"method\":\"mtp\",\"num_speculative_tokens\":1}";
  CHECK(engine_of("0.19.0", mtp, h100()).async_scheduling);
  CHECK(engine_of("0.19.0", ngram, h100()).num_speculative_tokens == 4);
}

TEST_CASE("dtype auto follows the checkpoint and what the card can do") {
  CHECK(engine_of("0.19.0", "M", h100()).dtype == memory::ElementType::kBFloat16);
  CHECK(engine_of("0.19.0", "M", t4()).dtype == memory::ElementType::kFloat16);
  CHECK(engine_of("0.19.0", "M --dtype float32", t4()).dtype == memory::ElementType::kFloat32);
  CHECK(engine_of("0.19.0", "M --dtype half", h100()).dtype == memory::ElementType::kFloat16);
  memory::ModelShape gemma = decoder();
  gemma.model_type = "gemma2";
  CHECK(engine_of("0.19.0", "M", t4(), gemma).dtype == memory::ElementType::kFloat32);
  memory::ModelShape half = decoder();
  half.dtype = memory::ElementType::kFloat16;
  CHECK(engine_of("0.19.0", "M", h100(), half).dtype == memory::ElementType::kFloat16);
}

TEST_CASE("kv-cache-dtype auto follows the checkpoint's scheme from the release on that looks") {
  memory::ModelShape fp8 = decoder();
  fp8.kv_cache_scheme = "fp8";
  fp8.quantization = "compressed-tensors";
  CHECK(engine_of("0.13.0", "M", h100(), fp8).kv_cache_dtype == "bfloat16");
  CHECK(engine_of("0.14.0", "M", h100(), fp8).kv_cache_dtype == "fp8");
  fp8.quantization = "modelopt_fp4";
  CHECK(engine_of("0.11.0", "M", h100(), fp8).kv_cache_dtype == "bfloat16");
  CHECK(engine_of("0.11.1", "M", h100(), fp8).kv_cache_dtype == "fp8");
  CHECK(engine_of("0.19.0", "M", h100()).kv_cache_dtype == "auto");
  CHECK(engine_of("0.19.0", "M --kv-cache-dtype fp8_e5m2", h100(), fp8).kv_cache_dtype ==
        "fp8_e5m2");
}

TEST_CASE("MLA models take the block size of their kernels") {
  const memory::ModelShape mla = model_with({memory::CacheKind::kMla});
  CHECK(engine_of("0.10.2", "M", h100(), mla).block_tokens == 64);
  CHECK(engine_of("0.10.2", "M", a100(), mla).block_tokens == 16);
  CHECK(engine_of("0.10.2", "M --block-size 128", h100(), mla).block_tokens == 128);
  CHECK(engine_of("0.10.2", "M --block-size 32", h100(), mla).block_tokens == 64);
  CHECK(engine_of("0.19.0", "M", h100(), mla).block_tokens == 16);
  CHECK(engine_of("0.32.0", "M --kv-cache-dtype fp8", h100(), mla).block_tokens == 64);
  CHECK(engine_of("0.19.0", "M --attention-backend flashmla", h100(), mla).block_tokens == 64);
  CHECK(engine_of("0.19.0", "M --block-size 32", h100()).block_tokens == 32);
}

TEST_CASE("the length is the user's, the model's or what fits") {
  CHECK(engine_of("0.19.0", "M", h100()).max_model_len == 8192);
  CHECK(engine_of("0.19.0", "M --max-model-len 4k", h100()).max_model_len == 4000);
  for (const char* words : {"M --max-model-len auto", "M --max-model-len -1"}) {
    const memory::EngineSettings engine = engine_of("0.19.0", words, h100());
    CHECK(engine.auto_fit_max_model_len);
    CHECK(engine.max_model_len == 8192);
  }
}

TEST_CASE("values that cannot be read are named once") {
  const auto names = [](const char* version, const char* words) {
    return resolved(version, words, h100(), decoder()).unreadable;
  };
  using Names = std::vector<std::string>;
  CHECK(names("0.19.0", "M").empty());
  CHECK(names("0.19.0", "M --max-model-len $LEN") == Names{"max-model-len"});
  CHECK(names("0.13.0", "M --max-model-len auto") == Names{"max-model-len"});
  CHECK(names("0.19.0", "M --max-num-seqs 1k") == Names{"max-num-seqs"});
  CHECK(names("0.19.0", "M -pp 1000000000") == Names{"pipeline-parallel-size"});
  CHECK(names("0.19.0", "M -tp 4096").empty());
  CHECK(names("0.19.0", "M -tp 4097") == Names{"tensor-parallel-size"});
  CHECK(names("0.19.0", "M --block-size 0") == Names{"block-size"});
  CHECK(names("0.19.0", "M --gpu-memory-utilization 90%") == Names{"gpu-memory-utilization"});
  CHECK(names("0.19.0", "M --speculative-config {'a':1}") == Names{"speculative-config"});
  CHECK(names("0.19.0", "M --compilation-config {'mode':3}") == Names{"compilation-config"});
  CHECK(names("0.8.5", "M --compilation-config 3").empty());
  CHECK(names("0.19.0", "M --kv-cache-dtype $KV") == Names{"kv-cache-dtype"});
  memory::ModelShape sees = decoder();
  sees.vision_inputs = "image";
  CHECK(resolved("0.19.0", "M --limit-mm-per-prompt $LIMIT", h100(), sees).unreadable ==
        Names{"limit-mm-per-prompt"});
  CHECK(names("0.19.0", "M --limit-mm-per-prompt $LIMIT").empty());
  CHECK(names("0.19.0", "M -tp $TP -cc $CC") ==
        Names{"tensor-parallel-size", "compilation-config"});
}

TEST_CASE("the old engine runs where 0.8 to 0.10 fall back to it") {
  const auto is_v0 = [](const char* version, const char* words, const Gpu& gpu) {
    return resolved(version, words, gpu, decoder()).v0_engine;
  };
  CHECK(is_v0("0.7.3", "M", h100()));
  CHECK_FALSE(is_v0("0.8.0", "M", h100()));
  CHECK(is_v0("0.9.2", "M", t4()));
  CHECK_FALSE(is_v0("0.10.0", "M", t4()));
  CHECK(is_v0("0.9.2", "M --num-scheduler-steps 8", h100()));
  CHECK(is_v0("0.9.2", "M --kv-cache-dtype fp8", l4()));
  CHECK_FALSE(is_v0("0.9.2", "M --kv-cache-dtype fp8", h100()));
  CHECK_FALSE(is_v0("0.33.0", "M", t4()));
}

TEST_CASE("cross attention came to the new engine with Whisper in 0.10.2") {
  memory::ModelShape whisper = model_with({memory::CacheKind::kFull, memory::CacheKind::kCross});
  whisper.architecture = "WhisperForConditionalGeneration";
  const auto is_v0 = [](const char* version, const memory::ModelShape& model) {
    return resolved(version, "M", h100(), model).v0_engine;
  };
  CHECK(is_v0("0.9.2", whisper));
  CHECK(is_v0("0.10.1", whisper));
  CHECK_FALSE(is_v0("0.10.2", whisper));
  memory::ModelShape bart = whisper;
  bart.architecture = "BartForConditionalGeneration";
  CHECK(is_v0("0.10.2", bart));
}

TEST_CASE("without card and model the common case is assumed") {
  const Settings settings = read_settings(start_of("M"), newest_version(), nullptr);
  const memory::EngineSettings engine = resolve({settings, newest_version()}).engine;
  CHECK(engine.max_num_seqs == 256);
  CHECK(engine.max_num_batched_tokens == 2048);
  CHECK(engine.dtype == memory::ElementType::kBFloat16);
  CHECK(engine.max_model_len == 0);
}

TEST_CASE("defaults are shown as people write them") {
  const Gpu gpu = h100();
  const memory::ModelShape model = decoder();
  const Settings settings = read_settings(start_of("M"), Version{0, 19, 0}, nullptr);
  const ResolveInput input{settings, {0, 19, 0}, &gpu, &model, 131072};
  CHECK(default_text("max-model-len", input) == "131072");
  CHECK(default_text("max-num-seqs", input) == "1024");
  CHECK(default_text("gpu-memory-utilization", input) == "0.9");
  CHECK(default_text("kv-cache-dtype", input) == "auto");
  CHECK(default_text("enforce-eager", input) == "false");
  CHECK(default_text("dtype", input) == "bfloat16");
  CHECK(default_text("load-format", input) == "auto");
  CHECK(default_text("quantization", input).empty());
  CHECK(default_text("swap-space", input).empty());  // gone in 0.18
}

TEST_CASE("capture sizes never exceed the tokens of a batch") {
  CaptureRules rules;
  rules.largest = 512;
  rules.most_tokens = 20;
  CHECK(capture_sizes(rules) == std::vector<uint32_t>{1, 2, 4, 8, 16});
  rules.every_size_to = 3;
  rules.extra = {20, 21};
  CHECK(capture_sizes(rules) == std::vector<uint32_t>{1, 2, 3, 4, 8, 16, 20});
  rules = {};
  CHECK(capture_sizes(rules).empty());
}

TEST_CASE("encoders are left out when nothing may come to them, from 0.15 on") {
  memory::ModelShape model = decoder();
  model.vision_inputs = "image,video";
  model.audio_inputs = "audio";
  const auto vision = [&](const char* version, const char* words) {
    return engine_of(version, words, h100(), model).vision_encoder;
  };
  CHECK(vision("0.19.0", ""));
  CHECK_FALSE(vision("0.19.0", "--language-model-only"));
  CHECK_FALSE(vision("0.19.0", R"(--limit-mm-per-prompt {"image":0,"video":0})"));
  CHECK_FALSE(vision("0.19.0", R"(--limit-mm-per-prompt {"image":{"count":0},"video":0})"));
  CHECK(vision("0.19.0", R"(--limit-mm-per-prompt {"image":0})"));
  CHECK(vision("0.19.0", R"(--limit-mm-per-prompt {"image":0,"video":1})"));
  CHECK(vision("0.14.0", R"(--limit-mm-per-prompt {"image":0,"video":0})"));
  CHECK_FALSE(
      engine_of("0.19.0", R"(--limit-mm-per-prompt {"audio":0})", h100(), model).audio_encoder);
  CHECK(engine_of("0.19.0", "--language-model-only", h100(), model).images_per_prompt == 0);
  model.multimodal = true;  // V0 wants room for one large image
  CHECK(engine_of("0.7.3", "--max-model-len 128", h100(), model).max_num_batched_tokens == 5120);
}

TEST_CASE("encoders are whole on every rank where the model's class can do that") {
  memory::ModelShape model = decoder();
  const auto whole = [&] {
    return engine_of("0.19.0", "--mm-encoder-tp-mode data", h100(), model).whole_encoders;
  };
  CHECK_FALSE(whole());
  model.whole_encoders = true;
  CHECK(whole());
  CHECK_FALSE(engine_of("0.19.0", "", h100(), model).whole_encoders);
  CHECK_FALSE(engine_of("0.19.0", "--skip-mm-profiling", h100(), model).profile_encoders);
}
