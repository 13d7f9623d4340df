#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* spec;  ///< flow form
  const char* starts;
};

constexpr Case kCases[] = {
    {"{engine: VLLM, url: 'hf://org/m', resourceProfile: 'nvidia-gpu-l4:2', minReplicas: 0, "
     "args: [--max-model-len=4096]}",
     "--model org/m --served-model-name a --max-model-len=4096; gpu 2 l4 nvidia.com/gpu; "
     "replicas 0"},
    {"{engine: VLLM, url: 'hf://org/m?x=1', resourceProfile: 'amd-gpu-mi300x:8', replicas: 2}",
     "--model org/m --served-model-name a; gpu 8 mi300x amd.com/gpu; replicas 2"},
    {"{engine: VLLM, url: 'pvc://claim', resourceProfile: 'cpu:4'}",
     "--model /model --served-model-name a"},
    {"{engine: VLLM, url: 's3://bucket/m', resourceProfile: 'google-tpu-v5e-2x2:4'}",
     "--model s3://bucket/m --load-format runai_streamer --served-model-name a"},
    {"{engine: VLLM, url: 'hf://org/m', adapters: [{name: x}]}",
     "--model org/m --served-model-name a --enable-lora"},
    {"{engine: VLLM, url: 'hf://{{ .m }}', args: ['--seed=${S}']}",
     "--model ?{{ .m }} --served-model-name a ?--seed=${S}"},
    {"{engine: OLlama, url: 'ollama://m'}", ""},
};

}  // namespace

TEST_CASE("a KubeAI Model becomes its server's command") {
  for (const Case& item : kCases) {
    INFO(item.spec);
    const SourceFile file(
        "m.yaml", "# vllm\napiVersion: kubeai.org/v1\nkind: Model\nmetadata:\n  name: a\nspec: " +
                      std::string(item.spec) + "\n");
    CHECK(summaries_of(file) == item.starts);
    for (const EngineStart& start : read_file(file).starts) {
      CHECK(start.kind == "kubeai");
      CHECK(start.name == "Model/a");
      CHECK_FALSE(start.serve);
      CHECK(line_of(start.where) == 2);
      CHECK(position_of(start, "a") == "5:9");
    }
  }
}

TEST_CASE("each entry of a KubeAI catalog is an engine") {
  for (const Case& item : kCases) {
    INFO(item.spec);
    const SourceFile file("values.yaml",
                          "catalog:\n  # vllm\n  a: " + std::string(item.spec) + "\n");
    CHECK(summaries_of(file) == item.starts);
  }
  const SourceFile two("values.yaml",
                       "models:\n  catalog:\n"
                       "    a: {engine: VLLM, url: 'hf://org/m', enabled: false}\n"
                       "    b: {engine: VLLM, url: 'hf://org/n', env: {VLLM_USE_V1: '1'}}\n");
  const FileContents contents = read_file(two);
  REQUIRE(contents.starts.size() == 2);
  CHECK(contents.starts[1].name == "catalog/b");
  CHECK(line_of(contents.starts[1].where) == 4);
  CHECK(env_of(contents.starts[1], "VLLM_USE_V1") == "1");
}
