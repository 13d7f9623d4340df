#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* name;
  const char* yaml;
  const char* starts;
};

constexpr char kConfig[] =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  inference_config.yaml: |\n"
    "    max_probe_steps: 6\n    vllm:\n      max-model-len: 8192\n"
    "      enable-prefix-caching: true\n      enable-chunked-prefill: false\n---\n";

}  // namespace

TEST_CASE("KAITO's presets name the model, the rest is KAITO's choice") {
  const Case cases[] = {
      {"short name", "{preset: {name: phi-4}}", "microsoft/phi-4 ?(chosen by KAITO)"},
      {"id on the Hub", "{preset: {name: org/m}}", "org/m ?(chosen by KAITO)"},
      {"unknown name", "{preset: {name: no-such}}", "?(chosen by KAITO)"},
      {"own template",
       "{template: {spec: {containers: [{name: x, command: [vllm, serve, org/m]}]}}}", "org/m"},
      {"options", "{preset: {name: phi-4}, config: c}",
       "microsoft/phi-4 ?(chosen by KAITO) --max-model-len 8192 --enable-prefix-caching "
       "--no-enable-chunked-prefill"},
      {"nothing", "{}", ""},
  };
  for (const Case& item : cases) {
    INFO(item.name);
    const SourceFile file("w.yaml", std::string(kConfig) +
                                        "apiVersion: kaito.sh/v1beta1\nkind: Workspace\n"
                                        "metadata: {name: w}\ninference: " +
                                        item.yaml + "\n");
    CHECK(summaries_of(file) == item.starts);
  }
}

TEST_CASE("options that leave KAITO nothing to choose make the command complete") {
  const SourceFile file("w.yaml",
                        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n"
                        "  inference_config.yaml: |\n    vllm: {max-model-len: 8192, "
                        "tensor-parallel-size: 2, gpu-memory-utilization: 0.9}\n---\n"
                        "apiVersion: kaito.sh/v1beta1\nkind: Workspace\n"
                        "metadata: {name: w}\nresource: {instanceType: T, count: 2}\n"
                        "inference: {config: c, preset: {name: phi-4}}\n");
  CHECK(summaries_of(file) ==
        "microsoft/phi-4 --max-model-len 8192 --tensor-parallel-size 2 --gpu-memory-utilization "
        "0.9; gpu T; nodes 2");
  const FileContents contents = read_file(file);
  CHECK(line_of(contents.starts.at(0).where) == 8);
  CHECK(position_of(contents.starts.at(0), "8192") == "6:27");
}

TEST_CASE("KAITO's sets, slices, roles and other runtimes are read") {
  const Case cases[] = {
      {"set",
       "kind: InferenceSet\nmetadata: {name: s}\nspec:\n  replicas: 2\n  template:\n"
       "    inference: {preset: {name: phi-4}}\n    resource: {partition: {mode: mig, profile: "
       "1g.10gb}}\n",
       "microsoft/phi-4 ?(chosen by KAITO) --served-model-name s; gpu 1 nvidia.com/mig-1g.10gb; "
       "replicas 2"},
      {"roles",
       "kind: MultiRoleInference\nmetadata: {name: r}\nspec:\n  model: {name: org/m}\n  roles:\n"
       "  - {type: prefill, replicas: 1, instanceType: T}\n  - {type: decode, replicas: 3}\n",
       "org/m ?(chosen by KAITO); gpu T; replicas 1\norg/m ?(chosen by KAITO); replicas 3"},
      {"transformers",
       "kind: Workspace\nmetadata: {name: w, annotations: {kaito.sh/runtime: transformers}}\n"
       "inference: {preset: {name: phi-4}}\n",
       ""},
      {"tuning", "kind: Workspace\nmetadata: {name: w}\ntuning: {preset: {name: phi-4}}\n", ""},
  };
  for (const Case& item : cases) {
    INFO(item.name);
    const SourceFile file("w.yaml",
                          "# vllm\napiVersion: kaito.sh/v1beta1\n" + std::string(item.yaml));
    CHECK(summaries_of(file) == item.starts);
  }
}
