#include "lint/inputs.h"

#include "tests/support/catch.h"
#include "tests/support/memory_files.h"

using namespace kvbudget;

namespace {

using Words = std::vector<std::string>;

template <typename Value>
Options with(Value Options::*option, Value value) {
  Options options;
  options.*option = std::move(value);
  return options;
}

InputsResult read(const Options& options) {
  MemoryFiles files{{"models/config.json", "{}"}, {"a=b.json", "{}"}};
  SourceStore sources(files);
  return read_inputs(options, sources);
}

}  // namespace

TEST_CASE("a size needs a number and a unit") {
  CHECK(parse_bytes("23.5GiB") == uint64_t{25232932864});
  CHECK(parse_bytes("24 GB") == uint64_t{24000000000});
  CHECK(parse_bytes("512MiB") == uint64_t{536870912});
  for (const char* wrong :
       {"", "24", "GiB", "-1GiB", "0GiB", "1e30GiB", "nanGiB", "24gigs", "inf GB"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_bytes(wrong).has_value());
  }
}

TEST_CASE("option --gpu takes a card of the table and a count") {
  const InputsResult result = read(with(&Options::gpu, std::string("L4:2")));
  REQUIRE(result.inputs);
  CHECK(result.inputs->gpu->name == "L4");
  CHECK(result.inputs->gpu->memory_bytes > 0);
  CHECK(result.inputs->gpu_count == 2);
}

TEST_CASE("option --gpu-memory describes a card that the table does not have, or overrides one") {
  Options other_card = with(&Options::gpu, std::string("Q9000"));
  other_card.gpu_memory = "10GiB";
  Options slice_of_card = other_card;
  slice_of_card.gpu = "L4";
  const InputsResult other = read(other_card);
  REQUIRE(other.inputs);
  CHECK(other.inputs->gpu->name == "Q9000");
  CHECK(other.inputs->gpu->memory_bytes == uint64_t{10} << 30);
  const InputsResult slice = read(slice_of_card);
  REQUIRE(slice.inputs);
  CHECK(slice.inputs->gpu->memory_bytes == uint64_t{10} << 30);
  const InputsResult nameless = read(with(&Options::gpu_memory, std::string("10GiB")));
  REQUIRE(nameless.inputs);
  CHECK(nameless.inputs->gpu->memory_bytes == uint64_t{10} << 30);
}

TEST_CASE("wrong inputs are usage errors that name the option") {
  struct Case {
    std::string Options::*option;
    std::string value, start;
  };
  const Case cases[] = {
      {&Options::gpu, "L44", "--gpu L44"},
      {&Options::gpu, "L4:", "--gpu L4:"},
      {&Options::gpu, "L4:0", "--gpu L4:0"},
      {&Options::gpu, "L4:x", "--gpu L4:x"},
      {&Options::gpu_memory, "24", "--gpu-memory 24"},
      {&Options::engine, "0.19.0", "--engine 0.19.0"},
      {&Options::engine, "vllm@latest", "--engine vllm@latest"},
      {&Options::since, "0.19.0", "--since 0.19.0"},
  };
  for (const auto& [option, value, start] : cases) {
    CAPTURE(start);
    const InputsResult result = read(with(option, value));
    CHECK_FALSE(result.inputs);
    CHECK(result.error.starts_with(start));
    CHECK(result.code == kUsage);
  }
}

TEST_CASE("a typo in a card's name gets the name that was meant") {
  const std::string error = read(with(&Options::gpu, std::string("H10O-80GB"))).error;
  CHECK(error.find("did you mean 'H100-80GB'?") != std::string::npos);
}

TEST_CASE("option --engine states the version") {
  const InputsResult result = read(with(&Options::engine, std::string("vllm@0.19.0")));
  REQUIRE(result.inputs);
  CHECK(result.inputs->engine->str() == "0.19.0");
}

TEST_CASE("option --model-config takes a path, with or without the model it stands for") {
  const InputsResult result = read(
      with(&Options::model_configs, Words{"models", "org/name=models/config.json", "a=b.json"}));
  REQUIRE(result.inputs);
  const auto& configs = result.inputs->models.configs;
  REQUIRE(configs.size() == 3);
  CHECK(configs[0].id.empty());
  CHECK(configs[1].id == "org/name");
  CHECK(configs[1].path == "models/config.json");
  CHECK(configs[2].path == "a=b.json");
}

TEST_CASE("model configs that are not there cannot be read, which is no usage error") {
  CHECK(read(with(&Options::model_configs, Words{"nowhere.json"})).code == kFailed);
  CHECK(read(with(&Options::model_dirs, Words{"models/config.json"})).code == kFailed);
  CHECK(read(with(&Options::model_dirs, Words{"models"})).inputs);
}
