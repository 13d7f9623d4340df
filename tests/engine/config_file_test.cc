#include "lint/engine/settings.h"
#include "tests/engine/engine_fixture.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using namespace kvbudget::testing;

namespace {

std::string with_config(const char* version, const char* words, const NodePtr& config,
                        bool serve = true) {
  return understood(
      read_settings(start_of(words, serve), parse_version(version).value(), config.get()));
}

}  // namespace

TEST_CASE("the command line wins over the config file wherever --config stands") {
  const NodePtr config = mapping({{"max_model_len", scalar("32k")}, {"port", scalar("1")}});
  CHECK(with_config("0.19.0", "M --config f.yaml --max-model-len 4096", config) ==
        "model=M config=f.yaml max-model-len=4096 port=1");
  CHECK(with_config("0.19.0", "M --max-model-len 4096 --config f.yaml", config) ==
        "model=M config=f.yaml max-model-len=4096 port=1");
  const Settings settings =
      read_settings(start_of("M --config f.yaml"), Version{0, 19, 0}, config.get());
  CHECK(settings.find("port")->origin == Origin::kConfigFile);
  CHECK(settings.find("config")->origin == Origin::kFlag);
  CHECK(settings.integer("max-model-len") == 32000);
}

TEST_CASE("keys of a config file are flags without dashes") {
  CHECK(with_config("0.19.0", "M", mapping({{"tensor-parallel", scalar("2")}})) ==
        "model=M tensor-parallel-size=2");
  CHECK(with_config("0.19.0", "M", mapping({{"tp", scalar("2")}})) == "model=M ?tp");
  CHECK(with_config("0.19.0", "M", mapping({{"--port", scalar("2")}})) == "model=M ?port");
  CHECK(with_config("0.19.0", "M", mapping({{"hf-overrides.a", scalar("1")}})) ==
        "model=M hf-overrides={\"a\":1} hf-overrides.a=1");
  CHECK(with_config("0.8.5", "M", mapping({{"hf-overrides.a", scalar("1")}})) ==
        "model=M ?hf-overrides.a");
}

TEST_CASE("a false key has no effect under vllm serve") {
  const NodePtr off = mapping({{"enable-prefix-caching", scalar("false")}});
  CHECK(with_config("0.33.0", "M", off) == "model=M");
  CHECK(with_config("0.27.0", "--model M", off, false) == "model=M");
  CHECK(with_config("0.28.0", "--model M", off, false) == "model=M enable-prefix-caching=false");
  CHECK(with_config("0.33.0", "M", mapping({{"no-enable-prefix-caching", scalar("true")}})) ==
        "model=M enable-prefix-caching=false");
}

TEST_CASE("a true key is the bare switch, a quoted one is a value that switches refuse") {
  for (const char* text : {"true", "True", "yes", "on"}) {
    INFO(text);
    CHECK(with_config("0.19.0", "M", mapping({{"enforce-eager", scalar(text)}})) ==
          "model=M enforce-eager=true");
  }
  CHECK(with_config("0.19.0", "M", mapping({{"enforce-eager", quoted("true")}})) ==
        "model=M enforce-eager=true !true");
  CHECK(with_config("0.6.3", "M", mapping({{"enforce-eager", scalar("true")}})) ==
        "model=M enforce-eager=true !True");
}

TEST_CASE("null, lists and mappings become words as the release writes them") {
  CHECK(with_config("0.19.0", "M", mapping({{"quantization", scalar("null")}})) == "model=M");
  const NodePtr names = mapping({{"served-model-name", list({scalar("a"), scalar("b")})}});
  CHECK(with_config("0.19.0", "M", names) == "model=M served-model-name=a b");
  CHECK(with_config("0.19.0", "M", mapping({{"served-model-name", list({})}})) == "model=M");
  const NodePtr nested =
      mapping({{"compilation-config", mapping({{"mode", scalar("3")},
                                               {"cudagraph_mode", quoted("NONE")},
                                               {"x", scalar("true")}})}});
  CHECK(with_config("0.19.0", "M", nested) ==
        "model=M compilation-config={\"mode\":3,\"cudagraph_mode\":\"NONE\",\"x\":true}");
}

TEST_CASE("mappings were no JSON before 0.16 and lists one value before 0.10.2") {
  const NodePtr nested = mapping({{"compilation-config", mapping({{"mode", scalar("3")}})}});
  CHECK(with_config("0.15.0", "M", nested) == "model=M compilation-config={'mode':3}");
  CHECK(with_config("0.16.0", "M", nested) == "model=M compilation-config={\"mode\":3}");
  const NodePtr names = mapping({{"served-model-name", list({scalar("a"), scalar("b")})}});
  CHECK(with_config("0.10.1", "M", names) == "model=M served-model-name=['a','b']");
}

TEST_CASE("the model may come from the config file from 0.8.3 on, a word of its own wins") {
  const NodePtr config = mapping({{"model", scalar("F")}});
  CHECK(with_config("0.19.0", "--config f.yaml", config) == "model=F config=f.yaml");
  CHECK(with_config("0.19.0", "M --config f.yaml", config) == "model=M config=f.yaml");
  CHECK(with_config("0.8.2", "M", config) == "model=M !model");
}

TEST_CASE("the config file is read from the release on that knows it") {
  const NodePtr config = mapping({{"port", scalar("1")}});
  CHECK(with_config("0.5.5", "M --config f.yaml", config) == "model=M ?config");
  CHECK(with_config("0.10.1", "--model M", config, false) == "model=M");
  CHECK(with_config("0.10.2", "--model M", config, false) == "model=M port=1");
}

TEST_CASE("only the two words --config FILE name a file") {
  CHECK(config_file_of(start_of("M --config f.yaml")) == "f.yaml");
  CHECK(config_file_of(start_of("M --config=f.yaml")).empty());
  CHECK(config_file_of(start_of("M --config $FILE")).empty());
  CHECK(config_file_of(start_of("M --config")).empty());
}

TEST_CASE("a file that is itself a config gives its keys") {
  EngineStart start;
  start.config = {{SourceText("model"), scalar("M")}, {SourceText("max-num-seqs"), scalar("8")}};
  CHECK(understood(read_settings(start, Version{0, 19, 0}, nullptr)) == "model=M max-num-seqs=8");
}

TEST_CASE("a variable that stands for a flag counts when the flag is not given") {
  EngineStart start = start_of("M");
  start.env = {{SourceText("VLLM_ATTENTION_BACKEND"), SourceText("FLASHINFER"), true},
               {SourceText("VLLM_USE_V1"), SourceText("1"), true}};
  const Settings old = read_settings(start, Version{0, 10, 2}, nullptr);
  REQUIRE(old.find("attention-backend"));
  CHECK(old.find("attention-backend")->origin == Origin::kEnvironment);
  CHECK(old.environment_is_on("VLLM_USE_V1"));
  CHECK_FALSE(old.environment_is_on("VLLM_ALLOW_LONG_MAX_MODEL_LEN"));
  // 0.15 reads the variable no more.
  CHECK_FALSE(read_settings(start, Version{0, 15, 0}, nullptr).has("attention-backend"));
  start.argv = start_of("M --attention-backend TRITON_ATTN").argv;
  CHECK(read_settings(start, Version{0, 13, 0}, nullptr).text("attention-backend") ==
        "TRITON_ATTN");
}

TEST_CASE("keyword arguments of the engine are flags in which false counts") {
  const auto arguments = [](const char* version, const NodePtr& keys) {
    EngineStart start = start_of("", false);
    start.keys_are_arguments = true;
    for (const Entry& entry : keys->entries) start.config.push_back({entry.key, entry.value});
    return understood(read_settings(start, parse_version(version).value(), nullptr));
  };
  CHECK(arguments("0.20.0", mapping({{"model", scalar("M")}, {"max_model_len", scalar("4096")}})) ==
        "model=M max-model-len=4096");
  CHECK(arguments("0.20.0", mapping({{"enable_prefix_caching", scalar("false")},
                                     {"enforce_eager", scalar("true")},
                                     {"quantization", scalar("null")}})) ==
        "enable-prefix-caching=false enforce-eager=true");
  // Before switches had a negative form, false was what they were anyway.
  CHECK(arguments("0.7.0", mapping({{"enforce_eager", scalar("false")}})) == "");
  CHECK(arguments("0.10.0", mapping({{"compilation_config", mapping({{"level", scalar("3")}})},
                                     {"served_model_name", list({scalar("a"), scalar("b")})}})) ==
        "compilation-config={\"level\":3} served-model-name=a b");
  CHECK(arguments("0.20.0", mapping({{"device", scalar("cuda")}})) == "?device");
}
