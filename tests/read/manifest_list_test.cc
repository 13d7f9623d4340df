#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

constexpr const char* kPod =
    "{kind: Pod, apiVersion: v1, spec: {containers: [{image: '${IMAGE}', "
    "command: [vllm, serve, m, '--max-model-len=${LEN}', '--port=${PORT}']}]}}";

}  // namespace

TEST_CASE("objects of an OpenShift template see the values of its parameters") {
  const SourceFile file(
      "f.yaml", std::string("apiVersion: template.openshift.io/v1\nkind: Template\nobjects: [") +
                    kPod +
                    "]\nparameters:\n- {name: LEN, value: 4096}\n- {name: PORT}\n"
                    "- {name: IMAGE, value: vllm/vllm-openai:v0.9.1}\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(words_of(contents.starts[0]) == "m --max-model-len=4096 ?--port=${PORT}");
  CHECK(contents.starts[0].image->view() == "vllm/vllm-openai:v0.9.1");
  // The value is where its author wrote it.
  const Word& word = contents.starts[0].argv[1];
  const uint32_t at = word.text.offset(std::string("--max-model-len=").size());
  CHECK(file.bytes().substr(at, 4) == "4096");
}

TEST_CASE("objects of a list are read with each other's ConfigMaps") {
  const SourceFile file("f.yaml",
                        "apiVersion: v1\nkind: List\nitems:\n- {kind: ConfigMap, apiVersion: v1, "
                        "metadata: {name: c}, "
                        "data: {M: org/m}}\n- {kind: List, apiVersion: v1, items: []}\n- kind: "
                        "Pod\n  apiVersion: v1\n"
                        "  spec:\n    containers:\n    - command: [vllm, serve, $(M)]\n"
                        "      envFrom: [{configMapRef: {name: c}}]\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(words_of(contents.starts[0]) == "org/m");
}
