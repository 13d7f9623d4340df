#include "lint/resolve_deployment.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "lint/engine/flags.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

Deployment resolved(std::vector<std::string> flags, uint32_t gpus = 0) {
  std::vector<std::string> words = {"vllm", "serve", "Qwen/Qwen2.5-7B-Instruct", "--max-model-len",
                                    "8192"};
  words.insert(words.end(), flags.begin(), flags.end());
  Inputs inputs;
  inputs.engine = Version{0, 19, 0};
  inputs.gpu = *find_gpu("L4");
  inputs.gpu_count = gpus;
  return resolve_deployment(read_command_line(words).starts.front(), inputs);
}

}  // namespace

TEST_CASE("a plain start is judged") {
  const Deployment d = resolved({});
  REQUIRE(d.estimate.has_value());
  CHECK(d.estimate->verdict == memory::Verdict::kStarts);
}

TEST_CASE("what the engine refuses is never said to start") {
  struct Case {
    std::vector<std::string> flags;
    uint32_t gpus;
    const char* because;
  };
  const Case cases[] = {
      {{"--tensor-parallel-size", "4"}, 2, "4 ranks"},
      {{"--tensor-parallel-size", "7"}, 7, "28 attention heads"},  // 4 heads for keys and values
      {{"--frobnicate"}, 1, "frobnicate"},
      {{"--enforce-eager=true"}, 1, "enforce-eager"},
      {{"--dtype", "fp16"}, 1, "fp16"},
      {{"--max-num-batched-tokens", "512", "--max-num-seqs", "1024"}, 1, "at least max-num-seqs"},
  };
  for (const Case& c : cases) {
    INFO(c.because);
    const Deployment d = resolved(c.flags, c.gpus);
    REQUIRE(d.estimate.has_value());
    CHECK(d.estimate->verdict == memory::Verdict::kRefuses);
    CHECK(d.estimate->because.find(c.because) != std::string::npos);
  }
}

TEST_CASE("memory that is not counted, and shapes that are overridden, are not judged") {
  CHECK_FALSE(resolved({"--hf-overrides", R"({"num_hidden_layers":2})"}).estimate.has_value());
  CHECK(resolved({"--hf-overrides", R"({"rope_theta":10000})"}).estimate.has_value());
}

TEST_CASE("latent attention that is switched off is not judged") {
  Inputs inputs;
  inputs.gpu = *find_gpu("H200-141GB");
  const auto judged = [&](std::vector<std::string> words, Version version) {
    inputs.engine = version;
    for (const char* word : {"vllm", "serve", "deepseek-ai/DeepSeek-R1", "-tp", "8"}) {
      words.push_back(word);
    }
    return resolve_deployment(read_command_line(words).starts.at(0), inputs).estimate.has_value();
  };
  CHECK(judged({}, {0, 19, 0}));
  CHECK(judged({"VLLM_MLA_DISABLE=0"}, {0, 19, 0}));
  CHECK_FALSE(judged({"VLLM_MLA_DISABLE=1"}, {0, 19, 0}));
  CHECK_FALSE(judged({}, {0, 6, 6}));
}

TEST_CASE("variables that leave an engine some cards say how many it has") {
  const std::pair<const char*, uint32_t> cases[] = {
      {"CUDA_VISIBLE_DEVICES=0,1", 2},
      {"HIP_VISIBLE_DEVICES=3", 1},
      {"ROCR_VISIBLE_DEVICES=0,1,2", 3},
      {"ZE_AFFINITY_MASK=0", 1},
      {"NVIDIA_VISIBLE_DEVICES=GPU-1,GPU-2", 2},
      {"NVIDIA_VISIBLE_DEVICES=all", 0},
      {"CUDA_VISIBLE_DEVICES=", 0},
  };
  for (const auto& [variable, count] : cases) {
    INFO(variable);
    const auto start = read_command_line({variable, "vllm", "serve", "m"}).starts.at(0);
    CHECK(resolve_deployment(start, {}).gpu_count == count);
  }
}

TEST_CASE("a flag under a condition of a template is listed as unknown and not judged by") {
  const auto rendered = [](const std::string& lines) {
    const SourceFile file("deployment.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args:
        - --model=Qwen/Qwen2.5-7B-Instruct
        - --max-model-len=8192
)" + lines);
    Inputs inputs;
    inputs.gpu = *find_gpu("L4");
    Deployment d = resolve_deployment(read_file(file).starts.at(0), inputs);
    d.start = {};  // the file ends here
    return d;
  };
  REQUIRE(rendered("        - --enforce-eager\n").estimate.has_value());
  for (const char* name :
       {"enable-lora", "enforce-eager", "enable-expert-parallel", "enable-prefix-caching",
        "no-enable-prefix-caching", "enable-chunked-prefill", "async-scheduling",
        "skip-mm-profiling", "disable-hybrid-kv-cache-manager", "disable-sliding-window"}) {
    INFO(name);
    const std::string setting = std::string(name).starts_with("no-") ? name + 3 : name;
    const Deployment d = rendered("        {{- if .Values.wanted }}\n        - --" +
                                  std::string(name) + "\n        {{- end }}\n");
    REQUIRE(d.settings.find(setting) != nullptr);
    CHECK_FALSE(d.settings.find(setting)->known);
    CHECK_FALSE(d.estimate.has_value());
    CHECK(std::any_of(d.missing.begin(), d.missing.end(),
                      [&](const MissingInput& missing) { return missing.what == setting; }));
  }
  for (const char* words : {"--quantization=fp8", "--kv-cache-dtype=fp8",
                            "--tensor-parallel-size=2", "--max-num-seqs=8", "--hf-overrides={}",
                            "--limit-mm-per-prompt={\"image\":0}", "--compilation-config={}"}) {
    INFO(words);
    const Deployment d = rendered("        {{ if .Values.wanted }}\n        - '" +
                                  std::string(words) + "'\n        {{ end }}\n");
    CHECK_FALSE(d.estimate.has_value());
  }
  const Deployment unknown =
      rendered("        {{- if .Values.wanted }}\n        - --frobnicate\n        {{- end }}\n");
  REQUIRE(unknown.estimate.has_value());
  CHECK(unknown.estimate->verdict != memory::Verdict::kRefuses);
  CHECK(rendered("        {{- if .Values.wanted }}\n        - --disable-log-stats\n"
                 "        {{- end }}\n")
            .estimate.has_value());
}

TEST_CASE("a key under a condition of a config file's template is unknown too") {
  const auto settings_of = [](const std::string& lines) {
    const SourceFile file("config.yaml.j2",
                          "model: Qwen/Qwen2.5-7B-Instruct\nmax-model-len: 8192\n" + lines);
    Inputs inputs;
    inputs.engine = Version{0, 19, 0};
    inputs.gpu = *find_gpu("L4");
    Deployment d = resolve_deployment(read_file(file).starts.at(0), inputs);
    d.start = {};  // the file ends here
    return d;
  };
  REQUIRE(settings_of("enforce-eager: true\n").estimate.has_value());
  for (const char* line : {"enable-lora: true", "max-num-seqs: 8", "quantization: fp8"}) {
    INFO(line);
    const Deployment d =
        settings_of("{% if wanted %}\n" + std::string(line) + "\n{% endif %}\nseed: 1\n");
    const std::string name = std::string(line).substr(0, std::string(line).find(':'));
    REQUIRE(d.settings.find(name) != nullptr);
    CHECK_FALSE(d.settings.find(name)->known);
    CHECK_FALSE(d.estimate.has_value());
    CHECK(d.settings.find("seed")->known);
  }
}

TEST_CASE("what drafts tokens is loaded too, or named when it is not known") {
  const auto drafting = [](const std::string& config) {
    return resolved({"--speculative-config", config});
  };
  const uint64_t plain = resolved({}).estimate->term("weights")->bytes.best;
  const Deployment model =
      drafting(R"({"model": "Qwen/Qwen2.5-0.5B-Instruct", "num_speculative_tokens": 2})");
  REQUIRE(model.estimate.has_value());
  CHECK(model.estimate->term("weights")->bytes.best > plain + (uint64_t{900} << 20));
  CHECK(model.shape->caches.size() == 28 + 24);
  const Deployment words = drafting(R"({"method": "ngram", "num_speculative_tokens": 2})");
  REQUIRE(words.estimate.has_value());
  CHECK(words.estimate->term("weights")->bytes.best == plain);

  struct Case {
    const char* config;
    const char* missing;
  };
  const Case cases[] = {
      {R"({"model": "org/draft", "num_speculative_tokens": 2})", "org/draft"},
      {R"({"method": "eagle3", "num_speculative_tokens": 2})", "names no model"},
      {R"({"method": "mtp", "num_speculative_tokens": 1})", "multi-token-prediction"},
      {R"({"method": "sorcery", "model": "org/draft"})", "sorcery"},
  };
  for (const Case& c : cases) {
    INFO(c.config);
    const Deployment d = drafting(c.config);
    CHECK_FALSE(d.estimate.has_value());
    REQUIRE(d.missing.size() == 1);
    CHECK(d.missing.front().detail.find(c.missing) != std::string::npos);
  }
}

TEST_CASE("encoders that V0 profiles for every sequence are not judged") {
  const std::string config = R"({"architectures": ["WhisperForConditionalGeneration"],
    "model_type": "whisper", "d_model": 64, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128, "vocab_size": 640, "num_mel_bins": 80, "max_source_positions": 1500,
    "max_target_positions": 448, "torch_dtype": "float16"})";
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "kvbudget-whisper.json";
  std::ofstream(path) << config;
  const auto judged = [&](Version version) {
    Inputs inputs;
    inputs.engine = version;
    inputs.gpu = *find_gpu("L4");
    inputs.gpu_count = 1;
    inputs.models.configs.push_back({"", path.string()});
    return resolve_deployment(read_command_line({"vllm", "serve", "org/whisper"}).starts.front(),
                              inputs);
  };
  CHECK_FALSE(judged({0, 7, 3}).estimate.has_value());
  CHECK(judged({0, 19, 0}).estimate.has_value());
  std::filesystem::remove(path);
}

TEST_CASE("LoRA slots are part of the weights, or named when they are not followed") {
  const uint64_t plain = resolved({}).estimate->term("weights")->bytes.best;
  const auto slots = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), "--enable-lora");
    return resolved(flags).estimate->term("weights")->bytes.best - plain;
  };
  const uint64_t one = slots({});
  CHECK(one > uint64_t{70} << 20);  // rank 16 over all linear layers of 7 billion parameters
  CHECK(one < uint64_t{90} << 20);
  const uint64_t many = slots({"--max-loras", "4", "--max-lora-rank", "64"});
  CHECK(many > 15 * one);
  CHECK(many < 17 * one);
  CHECK_FALSE(resolved({"--enable-lora", "--lora-target-modules", "o_proj"}).estimate.has_value());
}

TEST_CASE("a release newer than the data is judged as the newest known one, and said to be") {
  Inputs inputs;
  inputs.engine = Version{9, 9, 0};
  inputs.gpu = *find_gpu("L4");
  const Deployment d = resolve_deployment(
      read_command_line({"vllm", "serve", "Qwen/Qwen2.5-7B-Instruct"}).starts.front(), inputs);
  CHECK(d.version_assumed);
  CHECK(d.version == newest_version());
}
