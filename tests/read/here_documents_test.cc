#include "tests/read/summary.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::string starts_of(const char* script) {
  const SourceFile file("run.sh", script);
  return summaries_of(file);
}

}  // namespace

TEST_CASE("a manifest that a script applies is read like the file it could be") {
  const char* script = R"(#!/bin/bash
LEN=8192
kubectl apply -f - <<EOF
apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:${TAG}
      args: ["--model", "org/name", "--max-model-len", "$LEN", "--max-num-seqs", "$SEQS"]
      resources: {limits: {nvidia.com/gpu: 2}}
EOF
)";
  const SourceFile file("run.sh", script);
  CHECK(summaries_of(file) ==
        "--model org/name --max-model-len 8192 --max-num-seqs ?$SEQS; "
        "image ?vllm/vllm-openai:${TAG}; gpu 2 nvidia.com/gpu");
  const EngineStart start = read_file(file).starts.at(0);
  CHECK(start.kind == "kubernetes");
  CHECK(position_of(start, "8192") == "2:5");
  CHECK(position_of(start, "org/name") == "11:26");
}

TEST_CASE("here-documents are read however they reach their reader") {
  struct Case {
    const char* script;
    const char* starts;
  };
  const Case cases[] = {
      {"cat <<'EOF' | docker compose -f - up\nservices:\n  a:\n    image: "
       "vllm/vllm-openai:v0.10.0\n"
       "    command: --model org/name\nEOF\n",
       "--model org/name; image vllm/vllm-openai:v0.10.0"},
      {"ssh host bash -s <<'X'\nvllm serve org/name --port $P\nX\n", "org/name --port ?$P"},
      {"cat > go.sh <<'X'\n#!/bin/sh\nvllm serve org/name\nX\nchmod +x go.sh\n", "org/name"},
      {"tee go.sh <<X >/dev/null\nvllm serve org/name\nX\n", "org/name"},
      {"bash <<-X\n\tvllm serve org/name\n\tX\nvllm serve other\n", "org/name\nother"},
      {"cat <<EOF\nvllm serve org/name\nEOF\n", ""},
      {"python3 - <<PY\nfrom vllm import LLM\nprint('max-model-len')\nPY\n", ""},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(starts_of(item.script) == item.starts);
  }
}

TEST_CASE("a config file that a script writes belongs to the engine that names it") {
  const SourceFile file(
      "run.sh",
      "LEN=4096\ncat > \"$DIR/config.yaml\" <<EOF\nmax-model-len: $LEN\n"
      "max-num-seqs: $SEQS\nEOF\nvllm serve org/name --config $DIR/config.yaml\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK(keys_of(contents.starts[0]) == "max-model-len=4096 max-num-seqs=?$SEQS");
  const SourceFile pod("pod.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai
      command: [bash, -c]
      args:
        - |
          cat > /tmp/vllm.yaml <<EOF
          max-model-len: 4096
          EOF
          vllm serve org/name --config /tmp/vllm.yaml
)");
  REQUIRE(read_file(pod).starts.size() == 1);
  CHECK(keys_of(read_file(pod).starts[0]) == "max-model-len=4096");
  const SourceFile alone("run.sh",
                         "cat > c.yaml <<EOF\nmodel: m\nmax-model-len: 1\nEOF\nserve c.yaml\n");
  REQUIRE(read_file(alone).starts.size() == 1);
  CHECK(read_file(alone).starts[0].kind == "vllm-config");
}

TEST_CASE("here-documents that never end or nest are read in bounded time") {
  std::string script = "#!/bin/bash\n";
  for (int i = 0; i < 2000; ++i) script += "cat <<A <<B <<C | x\n$(";
  script += "vllm serve m\n";
  CHECK(read_file(SourceFile("run.sh", script)).starts.empty());
  std::string deep = "#!/bin/bash\n";
  for (int i = 0; i < 200; ++i) deep += "bash <<E" + std::to_string(i) + "\n";
  deep += "vllm serve m\n";
  for (int i = 199; i >= 0; --i) deep += "E" + std::to_string(i) + "\n";
  CHECK(read_file(SourceFile("run.sh", deep)).starts.size() <= 1);
}
