#include "tests/read/checked_starts.h"
#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

constexpr const char* kContainer = "/spec/template/spec/containers/0";

}  // namespace

TEST_CASE("a JSON patch that gives arguments of vLLM is an engine") {
  const SourceFile file(
      "f.yaml",
      std::string("- {op: add, path: ") + kContainer + "/args/-, value: --max-num-seqs=8}\n" +
          "- {op: replace, path: " + kContainer + "/image, value: 'vllm/vllm-openai:v0.9.1'}\n" +
          "- {op: add, path: " + kContainer + "/env/-, value: {name: VLLM_A, value: '1'}}\n" +
          "- op: replace\n  path: " + kContainer +
          "/resources/limits/nvidia.com~1gpu\n  value: 4\n" +
          "- {op: replace, path: /spec/replicas, value: 2}\n" +
          "- op: add\n  path: /spec/template/spec/nodeSelector\n"
          "  value: {cloud.google.com/gke-accelerator: nvidia-l4}\n"
          "- {op: remove, path: /spec/template/spec/volumes}\n");
  const auto starts = checked_starts(file);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].kind == "kustomize");
  CHECK(words_of(starts[0]) == "--max-num-seqs=8");
  CHECK(place_of(starts[0]) == "--max-num-seqs=8");
  CHECK(starts[0].image->view() == "vllm/vllm-openai:v0.9.1");
  CHECK(env_of(starts[0], "VLLM_A") == "1");
  CHECK(starts[0].gpu.count->value == 4);
  CHECK(starts[0].gpu.name->value == "nvidia-l4");
  CHECK(starts[0].replicas->value == 2);
}

TEST_CASE("a JSON patch may hold the whole command, or nothing of an engine") {
  struct Case {
    const char* operations;
    const char* words;  // null: no engine
  };
  const Case cases[] = {
      {"[{op: replace, path: /spec/containers/0/args, value: [--model, m, --max-model-len, '1']}]",
       "--model m --max-model-len 1"},
      {"[{op: add, path: /spec/containers/0/command, value: [vllm, serve, m]}]", "m"},
      {"[{op: add, path: /spec/containers/0/args/-, value: --port=1}, "
       "{op: add, path: /metadata/labels/vllm, value: x}]",
       nullptr},
      {"[{op: add, path: /spec/containers/x/args/-, value: --max-model-len=1}]", nullptr},
      {"[{op: test, path: /spec/containers/0/args/0, value: --max-model-len=1}]", nullptr},
      {"[{op: add, path: '', value: --max-model-len=1}, {op: add}, 1]", nullptr},
  };
  for (const Case& item : cases) {
    INFO(item.operations);
    const SourceFile file("f.yaml", item.operations);
    const auto starts = checked_starts(file);
    REQUIRE(starts.size() == (item.words == nullptr ? 0 : 1));
    if (item.words != nullptr) CHECK(words_of(starts[0]) == item.words);
  }
}

TEST_CASE("patches inside a kustomization are read, with the image that it names") {
  const SourceFile file(
      "kustomization.yaml",
      "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
      "images:\n- {name: vllm/vllm-openai, newTag: v0.9.1}\n- {name: busybox, newTag: '1'}\n"
      "patches:\n- path: other.yaml\n- target: {kind: Deployment, name: llm}\n  patch: |-\n"
      "    - op: add\n      path: /spec/template/spec/containers/0/args/-\n"
      "      value: --max-model-len=4096\n"
      "- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: two}\n"
      "    spec:\n      template:\n        spec:\n          containers:\n          - name: e\n"
      "            args: [--model, m, --max-num-seqs, '1']\n");
  const auto starts = checked_starts(file);
  REQUIRE(starts.size() == 2);
  CHECK(starts[0].name == "Deployment/llm");
  CHECK(words_of(starts[0]) == "--max-model-len=4096");
  CHECK(starts[0].image->view() == "vllm/vllm-openai:v0.9.1");
  CHECK(starts[1].name == "Deployment/two/e");
  CHECK(words_of(starts[1]) == "--model m --max-num-seqs 1");
  CHECK(file.position(starts[1].argv[0].text.offset(0)).line == 22);
}
