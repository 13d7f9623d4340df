#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* kind;
  const char* spec;
};

constexpr char kStart[] =
    "org/m --max-model-len 4096; image vllm/vllm-openai:v0.9.0; gpu 1 nvidia.com/gpu";

}  // namespace

TEST_CASE("values inside the resource that installs a chart are read") {
  const Case cases[] = {
      {"Application",
       "{source: {helm: {valuesObject: {image: {repository: vllm/vllm-openai, tag: v0.9.0}, model: "
       "org/m, maxModelLen: 4096, resources: {limits: {nvidia.com/gpu: 1}}}}}}"},
      {"Application",
       "{sources: [{path: x}, {helm: {values: \"image: vllm/vllm-openai:v0.9.0\\nmodel: "
       "org/m\\nmaxModelLen: 4096\\ngpuCount: 1\\n\"}}]}"},
      {"Application",
       "{source: {helm: {parameters: [{name: llm.image.repository, value: vllm/vllm-openai}, "
       "{name: "
       "llm.image.tag, value: v0.9.0}, {name: llm.model.name, value: org/m}, {name: "
       "llm.maxModelLen, value: '4096'}, {name: 'llm.resources.limits.nvidia\\.com/gpu', value: "
       "'1'}]}}}"},
      {"ApplicationSet",
       "{template: {spec: {source: {helm: {values: \"{image: 'vllm/vllm-openai:v0.9.0', model: "
       "org/m, maxModelLen: 4096, numGpus: 1}\"}}}}}"},
      {"HelmRelease",
       "{values: {vllm: {image: 'vllm/vllm-openai:v0.9.0', model: org/m, maxModelLen: 4096, gpus: "
       "1}}}"},
      {"HelmChart",
       "{valuesContent: \"vllm: {image: 'vllm/vllm-openai:v0.9.0', args: [org/m, --max-model-len, "
       "'4096'], gpu: 1}\"}"},
  };
  for (const Case& item : cases) {
    INFO(item.kind << item.spec);
    const SourceFile file("a.yaml", "apiVersion: x/v1\nkind: " + std::string(item.kind) +
                                        "\nmetadata: {name: a}\nspec: " + item.spec + "\n");
    CHECK(summaries_of(file) == kStart);
    const FileContents contents = read_file(file);
    REQUIRE(contents.starts.size() == 1);
    CHECK(contents.starts[0].name.substr(0, contents.starts[0].name.find('/')) == item.kind);
  }
}

TEST_CASE("charts of a kustomization have their values in it") {
  const SourceFile file("kustomization.yaml",
                        "kind: Kustomization\nmetadata: {name: a}\nhelmCharts:\n- name: x\n"
                        "  valuesInline: {vllm: {image: 'vllm/vllm-openai:v0.9.0', model: org/m, "
                        "maxModelLen: 4096, gpus: 1}}\n");
  CHECK(summaries_of(file) == kStart);
}

TEST_CASE("resources that install other charts hold no engine") {
  for (const char* spec : {"{source: {helm: {parameters: [{name: a.vllm, value: x}]}}}", "{}",
                           "{source: {helm: {values: 'vllm: ['}}}"}) {
    const SourceFile file("a.yaml",
                          "apiVersion: x/v1\nkind: Application\nspec: " + std::string(spec) + "\n");
    CHECK(summaries_of(file) == "");
  }
}
