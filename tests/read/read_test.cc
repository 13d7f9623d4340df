#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("a vLLM config file is told by its keys") {
  const SourceFile file("any.yaml", "# vLLM\nmodel: org/name\nmax_model_len: 8192\nunknown: 1\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  const EngineStart& start = contents.starts[0];
  CHECK(start.kind == "vllm-config");
  CHECK(start.config.size() == 3);
  CHECK(start.config[1].value->scalar() == "8192");
  CHECK(place_of(start) == "model");
  for (const char* other :
       {"model: x\nseed: 1\ndtype: y # vllm", "vllm: {max-model-len: 1}",
        "max-model-len: 1\na: 1\nb: 1\nc: 1", "- max-model-len", "max-model-len"}) {
    INFO(other);
    const SourceFile no_config("any.yaml", other);
    CHECK(read_file(no_config).starts.empty());
  }
}

TEST_CASE("a config file inside a ConfigMap is read in its place") {
  const SourceFile file("f.yaml", R"(apiVersion: v1
kind: ConfigMap
metadata: {name: cfg}
data:
  vllm.yaml: |
    model: org/name
    gpu-memory-utilization: 0.9
  notes: max-model-len
)");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(contents.starts[0].name == "ConfigMap/cfg/vllm.yaml");
  const Location where = contents.starts[0].config[1].value->where;
  CHECK(file.position(where.range.begin) == Position{7, 29});
}

TEST_CASE("a shell script is told by its first line or its name") {
  for (const char* path : {"run.sh", "x/run.bash", "-"}) {
    const SourceFile file(path, "MODEL=org/name\nvllm serve $MODEL --port 80\n");
    const FileContents contents = read_file(file);
    REQUIRE(contents.starts.size() == 1);
    CHECK(contents.starts[0].kind == "shell");
    CHECK(contents.starts[0].name == "script");
    CHECK(words_of(contents.starts[0]) == "org/name --port 80");
    CHECK(contents.errors.empty());
  }
  const SourceFile shebang("run", "#!/usr/bin/env bash\nvllm serve m\n");
  CHECK(read_file(shebang).starts.size() == 1);
  const SourceFile text("README", "vllm serve m\n");
  CHECK(read_file(text).starts.empty());
  const SourceFile python("run", "#!/usr/bin/env python3\nvllm serve m\n");
  CHECK(read_file(python).starts.empty());
}

TEST_CASE("standard input may be YAML") {
  const SourceFile file("-", "model: org/name\nmax-model-len: 1\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(contents.starts[0].kind == "vllm-config");
}

TEST_CASE("files that have nothing to do with vLLM are silent, broken ones of ours are not") {
  struct Case {
    const char* path;
    std::string text;
    size_t errors;
  };
  const Case cases[] = {
      {"empty.yaml", "", 0},
      {"service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: vllm}\n", 0},
      {"other.yaml", "a: [\n", 0},
      {"ours.yaml", "image: vllm/vllm-openai\nargs: [\n", 1},
      {"template.yaml", "image: vllm/vllm-openai\n{{ x }}: {{ y }}: z\n", 0},
      {"binary.yaml", std::string("vllm\0\x01\xFF", 7), 0},
      {"list.yaml", "- vllm\n- serve\n", 0},
      {"scalar.yaml", "vllm serve m\n", 0},
      {"ours.json", "{\"image\": \"vllm/vllm-openai\",}", 1},
      {"large.yaml", std::string(kMaxFileBytes + 1, 'x'), 1},
      {"large.sh", "#!/bin/sh\nvllm serve m\n" + std::string(3 << 20, 'x'), 1},
  };
  for (const Case& item : cases) {
    INFO(item.path);
    const SourceFile file(item.path, item.text);
    const FileContents contents = read_file(file);
    CHECK(contents.starts.empty());
    CHECK(contents.errors.size() == item.errors);
  }
}

TEST_CASE("our own command line is read like a script's") {
  const FileContents contents =
      read_command_line({"VLLM_USE_V1=1", "vllm", "serve", "org/name", "--max-model-len", "8192"});
  REQUIRE(contents.starts.size() == 1);
  const EngineStart& start = contents.starts[0];
  CHECK(start.kind == "command-line");
  CHECK(words_of(start) == "org/name --max-model-len 8192");
  CHECK(env_of(start, "VLLM_USE_V1") == "1");
  CHECK(start.file == nullptr);
  CHECK_FALSE(start.where);
  CHECK_FALSE(start.argv[0].text.location());
  CHECK(start.serve);

  CHECK_FALSE(read_command_line({"python3", "-m", "vllm.entrypoints.openai.api_server"})
                  .starts.at(0)
                  .serve);
  CHECK(words_of(read_command_line({"bash", "-c", "vllm serve 'a b'"}).starts.at(0)) == "a b");
  CHECK(read_command_line({"docker", "run", "vllm/vllm-openai:v0.9.0", "--model", "m"})
            .starts.at(0)
            .image->str() == "vllm/vllm-openai:v0.9.0");
}

TEST_CASE("a command line that starts no engine says what was expected") {
  const FileContents contents = read_command_line({"ollama", "serve"});
  CHECK(contents.starts.empty());
  REQUIRE(contents.errors.size() == 1);
  CHECK_FALSE(contents.errors[0].where);
  CHECK(contents.errors[0].message ==
        "expected a command that starts vLLM, such as 'vllm serve MODEL', found 'ollama'");
  CHECK(read_command_line({}).errors.size() == 1);
}

TEST_CASE("what helm and kustomize print is read from standard input") {
  constexpr const char* kDocuments = R"(---
# Source: chat/templates/service.yaml
apiVersion: v1
kind: Service
metadata: {name: chat}
spec: {selector: {app: chat}, ports: [{port: 80}]}
---
# Source: chat/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 2
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
        - name: vllm
          image: "vllm/vllm-openai:v0.10.0"
          args:
            - "--model"
            - "org/name"
---
# Source: chat/templates/empty.yaml
---
# Source: chat/templates/tests/test.yaml
apiVersion: v1
kind: Pod
metadata: {name: test}
spec: {containers: [{name: curl, image: curlimages/curl}]}
)";
  for (const char* noise :
       {"", "WARNING: Kubernetes configuration file is group-readable. Location: /root/.kube\n",
        "coalesce.go:286: warning: cannot overwrite table with non table for chat.resources "
        "(map[])\n",
        "walk.go:74: found symbolic link in path: /a resolves to /b. Contents of linked file "
        "included and used\nPulled: registry.example/chat:1.0\nDigest: sha256:00\n"}) {
    INFO(noise);
    const SourceFile file("-", std::string(noise) + kDocuments);
    const FileContents contents = read_file(file);
    REQUIRE(contents.starts.size() == 1);
    CHECK(words_of(contents.starts[0]) == "--model org/name");
    CHECK(contents.starts[0].name == "Deployment/chat/vllm");
    REQUIRE(contents.starts[0].replicas.has_value());
    CHECK(contents.starts[0].replicas->value == 2);
  }
}
