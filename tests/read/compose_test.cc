#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

EngineStart only_start(const SourceFile& file) {
  FileContents contents = read_file(file);
  REQUIRE(contents.errors.empty());
  REQUIRE(contents.starts.size() == 1);
  CHECK(contents.starts[0].name == "service chat");
  CHECK(contents.starts[0].kind == "compose");
  return contents.starts[0];
}

std::string service(const std::string& body) {
  std::string text = "services:\n  chat:\n";
  for (size_t begin = 0; begin < body.size();) {
    const size_t end = std::min(body.find('\n', begin), body.size());
    text += "    " + body.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

struct Case {
  const char* service;
  const char* words;
};

}  // namespace

TEST_CASE("a service's command gives the engine") {
  const Case cases[] = {
      {"image: vllm/vllm-openai\ncommand: --model m --port 1", "--model m --port 1"},
      {"image: vllm/vllm-openai\ncommand: [--model, m]", "--model m"},
      {"image: vllm/vllm-openai\ncommand: >\n  --model m\n  --x '{\"a\": 1}'",
       "--model m --x {\"a\": 1}"},
      {"image: x\nentrypoint: [vllm]\ncommand: [serve, m]", "m"},
      {"image: x\nentrypoint: python3 -m vllm.entrypoints.openai.api_server\ncommand: --model m",
       "--model m"},
      {"image: x\ncommand: vllm serve m", "m"},
      {"image: x\ncommand: bash -c \"vllm serve m --port $$PORT\"\nenvironment: [PORT=80]",
       "m --port 80"},
      {"image: x\nentrypoint: [bash, -c, 'exec vllm serve \"$$@\"', --]\ncommand: [m, --x]",
       "m --x"},
      {"image: vllm/vllm-openai\ncommand: --model ${M:-org/name} --port ${P}",
       "--model org/name --port ?${P}"},
      {"image: vllm/vllm-openai\ncommand: ['--m=${A:-${B:-c}}', '${F:---flag}', $X, $$Y]",
       "--m=c --flag ?$X $Y"},
      {"image: vllm/vllm-openai\ncommand: ['{\"t\":${T:-${U:-0.6}}}', 'a${X:+b}c']",
       "{\"t\":0.6} ac"},
      {"image: ${I:-vllm/vllm-openai:v0.10.2}\ncommand: [m]", "m"},
  };
  for (const Case& item : cases) {
    INFO(item.service);
    const SourceFile file("compose.yaml", service(item.service));
    CHECK(words_of(only_start(file)) == item.words);
  }
}

TEST_CASE("image, environment and GPUs of a service") {
  struct Request {
    const char* service;
    uint32_t count;
  };
  const Request cases[] = {
      {"gpus: all", 0},
      {"gpus: 2", 2},
      {"deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all}]}}}", 0},
      {"deploy: {resources: {reservations: {devices: [{capabilities: [gpu], count: 4}]}}}", 4},
      {"deploy: {resources: {reservations: {devices: [{capabilities: [gpu], device_ids: ['0', "
       "'3']}]}}}",
       2},
      {"deploy: {resources: {reservations: {devices: [{capabilities: [gpu], device_ids: "
       "['${G}']}]}}}",
       0},
  };
  for (const Request& item : cases) {
    INFO(item.service);
    const SourceFile file("compose.yaml",
                          service("image: vllm/vllm-openai\n" + std::string(item.service)));
    const EngineStart start = only_start(file);
    CHECK(start.gpu.resource == "nvidia.com/gpu");
    CHECK((start.gpu.count ? start.gpu.count->value : 0) == item.count);
  }
  const SourceFile file("compose.yaml", service(R"(image: ${I:-vllm/vllm-openai:v0.10.2}
ports: ["80:80"]
environment:
  A: 1
  B: ${X:-y}
  C: ${X}
  D:
deploy: {replicas: 2})"));
  const EngineStart start = only_start(file);
  CHECK(start.image->str() == "vllm/vllm-openai:v0.10.2");
  CHECK(start.image_known);
  CHECK_FALSE(start.serve);
  CHECK(env_of(start, "A") == "1");
  CHECK(env_of(start, "B") == "y");
  CHECK(env_of(start, "C") == "?");
  CHECK(env_of(start, "D") == "?");
  CHECK(start.replicas->value == 2);
  CHECK(start.serves_traffic);
  CHECK(place_of(start) == "vllm/vllm-openai:v0.10.2");
}

TEST_CASE("services of other programs start no engine") {
  const SourceFile file("compose.yaml",
                        "services:\n  vllm-proxy: {image: nginx}\n  e: {image: vllm/vllm-openai, "
                        "entrypoint: tail -f /dev/null}\n");
  const FileContents contents = read_file(file);
  CHECK(contents.starts.empty());
  CHECK(contents.errors.empty());
}

TEST_CASE("anchors and merge keys of a compose file are followed") {
  const SourceFile file("compose.yaml", R"(
x-base: &base
  image: vllm/vllm-openai
  command: &flags [--model, m, --seed, "1"]
services:
  chat:
    <<: *base
)");
  CHECK(words_of(only_start(file)) == "--model m --seed 1");
}
