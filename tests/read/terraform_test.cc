#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Case {
  const char* name;
  const char* text;
  const char* starts;
};

}  // namespace

TEST_CASE("Terraform's heredocs hold manifests, values and scripts") {
  const Case cases[] = {
      {"a manifest",
       "resource \"kubectl_manifest\" \"m\" {\n  yaml_body = <<EOT\napiVersion: v1\nkind: Pod\n"
       "metadata: {name: p}\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.9.0\n    args: "
       "[--model=org/m]\nEOT\n}\n",
       "--model=org/m; image vllm/vllm-openai:v0.9.0"},
      {"indented values",
       "  values = [<<-EOT\n    image:\n      repository: vllm/vllm-openai\n      tag: ${var.tag}\n"
       "    %{ if x }\n    model: org/m\n    %{ endif }\n    maxModelLen: ${var.length}\n  EOT\n  "
       "]\n",
       "org/m --max-model-len ?${var.length}; image ?vllm/vllm-openai:${var.tag}"},
      {"a script",
       "  user_data = <<-EOF\n    #!/bin/bash\n    docker run --gpus all vllm/vllm-openai:v0.9.0 "
       "--model ${var.model} --seed 1\n  EOF\n",
       "--model ?${var.model} --seed 1; image vllm/vllm-openai:v0.9.0"},
      {"several documents",
       "x = <<EOT\nvllm: {model: org/m, maxModelLen: 1, blockSize: 2}\nEOT\ny = <<EOT\n---\nvllm: "
       "{model: org/n}\n",
       "org/m --max-model-len 1 --block-size 2\norg/n"},
      {"no heredoc", "image = \"vllm/vllm-openai\"\n", ""},
      {"an empty one", "x = <<EOT\nEOT\n# vllm\n", ""},
      {"one that opens at the end", "# vllm\nx = <<EOT", ""},
  };
  for (const Case& item : cases) {
    INFO(item.name);
    CHECK(summaries_of(SourceFile("main.tf", item.text)) == item.starts);
  }
}

TEST_CASE("Terraform's resources hold pods and values as blocks") {
  const Case cases[] = {
      {"a deployment",
       "resource \"kubernetes_deployment_v1\" \"chat\" {\n  metadata { name = \"c\" }\n  spec {\n"
       "    replicas = 2\n    template {\n      spec {\n        node_selector = {\n"
       "          \"cloud.google.com/gke-accelerator\" = \"nvidia-l4\"\n        }\n"
       "        container {\n          name  = \"proxy\"\n          image = \"nginx\"\n        }\n"
       "        container {\n          image = \"vllm/vllm-openai:v0.9.0\" # why\n"
       "          args = [\"--model=org/m\", \"--max-model-len\", tostring(var.length),\n"
       "            \"--seed=${var.seed}\", // no\n          ]\n"
       "          env {\n            name = \"VLLM_USE_V1\"\n            value = \"1\"\n          "
       "}\n"
       "          resources {\n            limits = { \"nvidia.com/gpu\" = 1, cpu = \"8\" }\n"
       "          }\n        }\n      }\n    }\n  }\n}\n",
       "--model=org/m --max-model-len ?${tostring(var.length)} ?--seed=${var.seed}; image "
       "vllm/vllm-openai:v0.9.0; gpu 1 nvidia-l4 nvidia.com/gpu; replicas 2"},
      {"a manifest",
       "resource \"kubernetes_manifest\" \"m\" {\n  manifest = {\n    apiVersion = \"v1\"\n    "
       "kind = "
       "\"Pod\"\n    spec = { containers = [{ image = \"vllm/vllm-openai\", args = [\"--model\", "
       "\"org/m\"] }] }\n  }\n}\n",
       "--model org/m; image vllm/vllm-openai"},
      {"values",
       "resource \"helm_release\" \"r\" {\n  values = [yamlencode({\n    image = { repository = "
       "\"vllm/vllm-openai\", tag = \"v1\" }\n    model = \"org/m\"\n    maxModelLen = 4096\n  "
       "})]\n}\n",
       "org/m --max-model-len 4096; image vllm/vllm-openai:v1"},
      {"single values",
       "resource \"helm_release\" \"r\" {\n  set {\n    name = \"vllm.model\"\n    value = "
       "\"org/m\"\n  }\n  set {\n    name = \"vllm.maxModelLen\"\n    value = var.x\n  }\n}\n",
       "org/m --max-model-len ?${var.x}"},
      {"Cloud Run",
       "resource \"google_cloud_run_v2_service\" \"s\" {\n  template {\n    containers {\n      "
       "image = "
       "\"vllm/vllm-openai:v0.9.0\"\n      args = [\"--model=org/m\"]\n      resources {\n        "
       "limits "
       "= { \"nvidia.com/gpu\" = \"1\" }\n      }\n    }\n  }\n}\n",
       "--model=org/m; image vllm/vllm-openai:v0.9.0; gpu 1 nvidia.com/gpu"},
      {"what is cut off",
       "resource \"kubernetes_pod\" \"p\" { # vllm\n spec { container { args = [\"", ""},
  };
  for (const Case& item : cases) {
    INFO(item.name);
    CHECK(summaries_of(SourceFile("main.tf", item.text)) == item.starts);
  }
}

TEST_CASE("words of a heredoc stand where they are written") {
  const SourceFile file(
      "main.tf", "x = <<-EOT\n    vllm:\n      model: org/m\n      maxModelLen: 4096\n  EOT\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(line_of(contents.starts[0].where) == 2);
  CHECK(position_of(contents.starts[0], "4096") == "4:20");
}
