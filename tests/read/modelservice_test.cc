#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* artifacts;
  const char* decode;
  const char* starts;
};

std::string values(const Case& item) {
  return "# vllm\nrouting: {servicePort: 8000, proxy: {targetPort: 8200}}\nmodelArtifacts: " +
         std::string(item.artifacts) + "\ndecode: " + item.decode + "\n";
}

}  // namespace

TEST_CASE("llm-d's chart completes the containers of a role") {
  const Case cases[] = {
      {"{name: org/m, uri: 'hf://org/m'}",
       "{replicas: 2, containers: [{image: i, modelCommand: vllmServe, args: [--enforce-eager]}]}",
       "org/m --port 8200 --served-model-name org/m --enforce-eager; image i; gpu 1 "
       "nvidia.com/gpu; replicas 2"},
      {"{name: n, uri: 'hf://{{ .Values.modelArtifacts.name }}'}",
       "{parallelism: {tensor: 2, data: 4}, containers: [{modelCommand: imageDefault}]}",
       "n --port 8200 --tensor-parallel-size 2 --data-parallel-size 4 --data-parallel-size-local 4 "
       "--served-model-name n; gpu 8 nvidia.com/gpu"},
      {"{name: n, uri: 'pvc://claim/a/b', mountPath: /m}",
       "{containers: [{modelCommand: vllmServe, resources: {limits: {nvidia.com/gpu: 3}}}]}",
       "/m/a/b --port 8200 --served-model-name n; gpu 3 nvidia.com/gpu"},
      {"{name: n, uri: 'pvc+hf://claim/cache/org/m'}", "{containers: [{modelCommand: vllmServe}]}",
       "org/m --port 8200 --served-model-name n; gpu 1 nvidia.com/gpu"},
      {"{name: n, uri: 'hf://org/m'}",
       "{accelerator: {type: cpu}, containers: [{modelCommand: custom, command: [vllm, serve], "
       "args: [org/x, --seed, '1']}]}",
       "org/x --seed 1"},
      {"{name: n, uri: 'hf://org/m'}",
       "{parallelism: {tensor: '{{ .t }}', dataLocal: 2}, containers: [{modelCommand: vllmServe}]}",
       "org/m --port 8200 --tensor-parallel-size ?{{ .t }} --data-parallel-size 2 "
       "--data-parallel-size-local 2 --served-model-name n"},
      {"{name: n, uri: 'hf://org/m'}",
       "{acceleratorTypes: {labelKey: nvidia.com/gpu.product, labelValues: [L4]}, containers: "
       "[{modelCommand: vllmServe}]}",
       "org/m --port 8200 --served-model-name n; gpu 1 L4 nvidia.com/gpu"},
      {"{name: n, uri: 'hf://org/m'}", "{create: false, containers: [{modelCommand: vllmServe}]}",
       ""},
      {"{name: n, uri: 'hf://org/m'}",
       "{containers: [{modelCommand: vllmServe, env: [{name: HABANA_VISIBLE_DEVICES, value: "
       "'0'}]}]}",
       "org/m --port 8200 --served-model-name n"},
  };
  for (const Case& item : cases) {
    INFO(item.artifacts << item.decode);
    CHECK(summaries_of(SourceFile("values.yaml", values(item))) == item.starts);
  }
}

TEST_CASE("roles of llm-d's chart that span machines say how many") {
  const std::string decode =
      "  multinode: true\n  modelArtifacts: {name: org/m, uri: 'hf://org/m'}\n  prefill:\n"
      "    parallelism: {tensor: 8, workers: 2}\n    containers:\n"
      "    - name: vllm\n      modelCommand: vllmServe\n";
  const SourceFile file("values.yaml", "ms:\n" + decode);
  CHECK(summaries_of(file) ==
        "org/m --tensor-parallel-size 8 --served-model-name org/m; gpu 8 "
        "nvidia.com/gpu; nodes 2");
  const FileContents contents = read_file(file);
  CHECK(contents.starts.at(0).name == "prefill/vllm");
  CHECK(line_of(contents.starts.at(0).where) == 7);
}
