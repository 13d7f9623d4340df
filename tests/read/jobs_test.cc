// Task definitions of Amazon ECS and job files of Nomad.

#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("an ECS task definition is read from JSON") {
  const SourceFile file("task.json", R"({
  "family": "chat",
  "placementConstraints": [{"type": "memberOf",
                            "expression": "attribute:ecs.instance-type == g5.12xlarge"}],
  "containerDefinitions": [
    {"name": "proxy", "image": "nginx"},
    {"name": "vllm", "image": "vllm/vllm-openai:v0.10.0",
     "command": ["--model", "org/name", "--max-model-len", "4096"],
     "environment": [{"name": "VLLM_USE_V1", "value": "1"}],
     "secrets": [{"name": "HF_TOKEN", "valueFrom": "arn:aws:ssm:x"}],
     "resourceRequirements": [{"type": "GPU", "value": "4"}]}
  ]
})");
  CHECK(summaries_of(file) ==
        "--model org/name --max-model-len 4096; image vllm/vllm-openai:v0.10.0; "
        "gpu 4 g5.12xlarge nvidia.com/gpu");
  const EngineStart start = read_file(file).starts.at(0);
  CHECK(start.kind == "ecs");
  CHECK(start.name == "chat/vllm");
  CHECK(env_of(start, "VLLM_USE_V1") == "1");
  CHECK(env_of(start, "HF_TOKEN") == "?");
}

TEST_CASE("an ECS task definition is read from CloudFormation and Terraform") {
  const SourceFile stack("stack.yaml", R"(
AWSTemplateFormatVersion: "2010-09-09"
Resources:
  Task:
    Type: AWS::ECS::TaskDefinition
    Properties:
      ContainerDefinitions:
        - Name: vllm
          Image: vllm/vllm-openai:v0.10.0
          EntryPoint: [sh, -c]
          Command: ["vllm serve org/name --port 80"]
          ResourceRequirements: [{Type: GPU, Value: 1}]
)");
  CHECK(summaries_of(stack) ==
        "org/name --port 80; image vllm/vllm-openai:v0.10.0; gpu 1 nvidia.com/gpu");
  const SourceFile terraform("main.tf", R"(
resource "aws_ecs_task_definition" "chat" {
  family = "chat"
  container_definitions = jsonencode([
    {
      name    = "vllm"
      image   = "vllm/vllm-openai:v0.10.0"
      command = ["--model", var.model, "--max-model-len", "4096"]
      resourceRequirements = [{ type = "GPU", value = "1" }]
    }
  ])
}
)");
  CHECK(summaries_of(terraform) ==
        "--model ?${var.model} --max-model-len 4096; image vllm/vllm-openai:v0.10.0; "
        "gpu 1 nvidia.com/gpu");
  const SourceFile heredoc("main.tf", R"(
resource "aws_ecs_task_definition" "chat" {
  container_definitions = <<EOF
[{"name": "vllm", "image": "vllm/vllm-openai", "command": ["--model", "org/name"]}]
EOF
}
)");
  CHECK(summaries_of(heredoc) == "--model org/name; image vllm/vllm-openai");
}

TEST_CASE("tasks of a Nomad job are engines on the devices they ask for") {
  const SourceFile file("chat.nomad.hcl", R"(
job "chat" {
  group "gpu" {
    count = 2
    network { port "http" { to = 8000 } }
    task "vllm" {
      driver = "docker"
      config {
        image = "vllm/vllm-openai:v0.10.0"
        args  = ["--model", "org/name", "--max-model-len", "4096", "--port", "${NOMAD_PORT_http}"]
      }
      env {
        VLLM_USE_V1 = "1"
        HF_TOKEN    = "${var.token}"
      }
      resources {
        memory = 16000
        device "nvidia/gpu" {
          count = 2
          constraint {
            attribute = "${device.model}"
            value     = "Tesla T4"
          }
        }
      }
    }
    task "bare" {
      driver = "raw_exec"
      config {
        command = "/opt/venv/bin/vllm"
        args    = ["serve", "org/other", "--enforce-eager"]
      }
      resources { device "nvidia/gpu/A100" {} }
    }
    task "logs" {
      driver = "docker"
      config { image = "busybox" }
    }
  }
}
)");
  CHECK(summaries_of(file) ==
        "--model org/name --max-model-len 4096 --port ?${NOMAD_PORT_http}; "
        "image vllm/vllm-openai:v0.10.0; gpu 2 Tesla T4 nvidia.com/gpu; replicas 2\n"
        "org/other --enforce-eager; gpu 1 A100 nvidia.com/gpu; replicas 2");
  const EngineStart start = read_file(file).starts.at(0);
  CHECK(start.name == "chat/gpu/vllm");
  CHECK(env_of(start, "VLLM_USE_V1") == "1");
  CHECK(env_of(start, "HF_TOKEN") == "?");
}

TEST_CASE("task definitions and jobs that make no sense give nothing") {
  const std::pair<const char*, const char*> cases[] = {
      {"t.json", R"({"containerDefinitions": {"vllm": 1}})"},
      {"t.json", R"({"containerDefinitions": ["vllm", {"image": ["vllm"]}, {"command": 1}]})"},
      {"t.yaml", "Resources: {vllm: {Type: AWS::ECS::TaskDefinition}}"},
      {"t.yaml", "- {image: [vllm], name: {}}"},
      {"t.nomad", "job \"vllm\" { group { task { config = 1 } } group \"x\" = 3 }"},
      {"t.nomad", "job { group \"vllm\" { task \"a\" { config { args = \"x\" device"},
      {"t.nomad", "job \"vllm\" { task \"a\" { resources { device \"gpu\" } } }"},
  };
  for (const auto& [path, text] : cases) {
    INFO(text);
    CHECK(read_file(SourceFile(path, text)).starts.empty());
  }
}
