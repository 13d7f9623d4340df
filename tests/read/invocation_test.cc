#include "lint/read/invocation.h"

#include "lint/read/vllm_names.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::vector<Invocation> find(const SourceFile& file) {
  const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
  return find_invocations_in_script(text, ShellScope());
}

/// Arguments of every engine, joined; `module` in front when it is not `vllm serve`.
std::string show(const std::vector<Invocation>& invocations) {
  std::string result;
  for (const Invocation& invocation : invocations) {
    if (!result.empty()) result += " ; ";
    for (const EnvVar& variable : invocation.env) {
      result += variable.name.str() + "=" + (variable.known ? variable.value.str() : "?") + " ";
    }
    if (!invocation.serve) result += "module ";
    if (invocation.image) result += invocation.image->text.str() + " ";
    for (const Word& word : invocation.argv) {
      result += std::string(word.known ? "" : "?") + "<" + word.text.str() + ">";
    }
  }
  return result;
}

struct Case {
  const char* script;
  const char* engines;
};

}  // namespace

TEST_CASE("every usual way to start the engine is recognised") {
  const Case cases[] = {
      {"vllm serve m --x", "<m><--x>"},
      {"/opt/venv/bin/vllm serve m", "<m>"},
      {"uv run vllm serve m", "<m>"},
      {"exec nohup numactl --membind 0 vllm serve m", "<m>"},
      {"python -m vllm.entrypoints.openai.api_server --model m", "module <--model><m>"},
      {"python3.12 -u -m vllm.entrypoints.openai.api_server --model m", "module <--model><m>"},
      {"python3 -m vllm.entrypoints.cli.main serve m", "<m>"},
      {"python3 /app/vllm/entrypoints/openai/api_server.py --model m", "module <--model><m>"},
      {"uv run vllm run-batch -i a -o b --model m", "module <-i><a><-o><b><--model><m>"},
      {"python -m vllm.entrypoints.openai.run_batch -i a --model m", "module <-i><a><--model><m>"},
      {"python -m vllm.entrypoints.cli.main run-batch --model m", "module <--model><m>"},
      {"vllm bench latency --model m", ""},
      {"A=1 vllm serve m", "A=1 <m>"},
      {"export A=1; export B=2; B=3 vllm serve m", "A=1 B=3 <m>"},
      {"A=1; vllm serve m", "<m>"},
      {"env A=1 \"B=$C\" vllm serve m", "A=1 B=? <m>"},
      {"sh -c 'vllm serve m --x'", "<m><--x>"},
      {"bash -lc \"cd /x && exec vllm serve $M\"", "?<$M>"},
      {"bash -o pipefail -c 'vllm serve m'", "<m>"},
      {"bash -c 'exec vllm serve \"$@\"' -- m --x", "<m><--x>"},
      {"bash -lc -- 'vllm serve m'", "<m>"},
      {"M=m; bash -c \"vllm serve $M\"", "<m>"},
      {"docker exec c bash -c 'vllm serve m'", "<m>"},
      {"C='vllm serve m'\nif [ -n \"$A\" ]; then\n C=\"$C $A\"\nfi\nexec $C", "<m>?<$A>"},
      {"bash -c \"vllm serve m --port '$P' --host '0'\"", "<m><--port>?<$P><--host><0>"},
      {"bash -c 'vllm serve m --x '\"'\"'$P'\"'\"", "<m><--x><$P>"},
      {"A='--x 1'; eval \"exec vllm serve m ${A}\"", "<m><--x><1>"},
      {"M=m; tmux new-session -d -s s \"vllm serve $M --x\"", "<m><--x>"},
      {"tmux send-keys -t s 'A=1 vllm serve m' C-m", "A=1 <m>"},
      {"ssh host \"cd /x && vllm serve m\"", "<m>"},
      {"sudo su - u -c 'vllm serve m'", "<m>"},
      {"tmux kill-session -t vllm; ssh host 'pkill -f \"vllm serve\"'", ""},
      {"if [ x ]; then vllm serve a; else vllm serve b; fi", "<a> ; <b>"},
      {"vllm serve a & vllm serve b &\nwait", "<a> ; <b>"},
      {"vllm serve m 2>&1 | tee log", "<m>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    const SourceFile file("f.sh", item.script);
    CHECK(show(find(file)) == item.engines);
  }
}

TEST_CASE("commands that only speak of the engine start nothing") {
  for (const char* script :
       {"echo vllm serve m", "pkill -f 'vllm serve'", "pip install vllm",
        "vllm bench serve --model m", "# vllm serve m", "cat <<EOF\nvllm serve m\nEOF",
        "grep vllm serve", "MSG='vllm serve m'", "docker pull vllm/vllm-openai",
        "docker run ubuntu ls", "docker run", "bash -c", "vllm"}) {
    INFO(script);
    const SourceFile file("f.sh", script);
    CHECK(show(find(file)) == "");
  }
}

TEST_CASE("docker run gives image, environment and GPUs") {
  const Case cases[] = {
      {"docker run --rm -it vllm/vllm-openai:v0.8.0 --model m",
       "module vllm/vllm-openai:v0.8.0 <--model><m>"},
      {"docker run -d -p 80:80 -e A=1 --env=B=2 -eC=3 --name x vllm/vllm-openai m",
       "A=1 B=2 C=3 vllm/vllm-openai <m>"},
      {"sudo docker run --gpus all --ipc=host my/image vllm serve m", "my/image <m>"},
      {"podman run --entrypoint '' x sh -c 'vllm serve m'", "x <m>"},
      {"docker run --entrypoint vllm x serve m", "x <m>"},
      {"docker run $FLAGS vllm/vllm-openai --model m", "vllm/vllm-openai <--model><m>"},
      {"I=vllm/vllm-openai; docker run $I --model m", "vllm/vllm-openai <--model><m>"},
      {"docker run $I --model m --max-model-len 1", "$I <--model><m><--max-model-len><1>"},
      {"docker container run x vllm serve m", "x <m>"},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    const SourceFile file("f.sh", item.script);
    CHECK(show(find(file)) == item.engines);
  }
  const SourceFile file("f.sh", "docker run -p 1:1 --gpus '\"device=0,3\"' vllm/vllm-openai");
  const std::vector<Invocation> found = find(file);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gpu.count->value == 2);
  CHECK(found[0].publishes_port);
}

TEST_CASE("the place of a start is the words that name the engine") {
  const SourceFile file("f.sh", "x &&\n  exec vllm  serve m\n");
  const std::vector<Invocation> found = find(file);
  REQUIRE(found.size() == 1);
  const ByteRange range = found[0].where.range;
  CHECK(file.bytes().substr(range.begin, range.end - range.begin) == "vllm  serve");
}

TEST_CASE("images are known by their name and their version by the tag") {
  CHECK(image_kind("vllm/vllm-openai:v0.9.0") == ImageKind::kVllmServer);
  CHECK(image_kind("registry:5000/mirror/vllm-openai@sha256:00") == ImageKind::kVllmServer);
  CHECK(image_kind("registry.redhat.io/rhaiis/vllm-cuda-rhel9:3") == ImageKind::kVllmServer);
  CHECK(image_kind("nvcr.io/nvidia/vllm:25.09") == ImageKind::kVllm);
  CHECK(image_kind("vllm.local/proxy") == ImageKind::kVllm);
  CHECK(image_kind("lmsysorg/sglang:latest") == ImageKind::kOther);
  CHECK_FALSE(image_runs_serve("vllm/vllm-openai:v0.10.2"));
  CHECK_FALSE(image_runs_serve("vllm/vllm-openai:v0.11.0"));
  CHECK(image_runs_serve("vllm/vllm-openai:v0.11.1"));
  CHECK(image_runs_serve("vllm/vllm-openai:0.20.0.post1"));
  CHECK(image_runs_serve("vllm/vllm-openai:latest"));
  CHECK(image_runs_serve("vllm/vllm-openai"));
  CHECK(image_runs_serve("localhost:5000/vllm-openai"));
}

TEST_CASE("a program of somebody's own with a server's arguments is an engine") {
  const Case cases[] = {
      {"python server.py --model=$M --max-model-len=1 --max-num-seqs 2 --port 1",
       "module ?<--model=$M><--max-model-len=1><--max-num-seqs><2><--port><1>"},
      {"python3 -u -m my.server --host x --tensor-parallel-size 2 --gpu-memory-utilization .9",
       "module <--host><x><--tensor-parallel-size><2><--gpu-memory-utilization><.9>"},
      {"./app/launch.py --port 1 --block-size 16 --max-num-seqs 2",
       "module <--port><1><--block-size><16><--max-num-seqs><2>"},
      // Not a server, or nothing that only an engine takes.
      {"python benchmark_serving.py --port 1 --block-size 16 --max-num-seqs 2", ""},
      {"python run_client.py --port 1 --max-model-len 1 --max-num-seqs 2", ""},
      {"python server.py --model m --port 1 --served-model-name n", ""},
      {"python server.py --max-model-len 1 --max-num-seqs 2", ""},
      {"python -m sglang.launch_server --port 1 --tensor-parallel-size 2 --kv-cache-dtype fp8", ""},
      {"python server.py --port 1 --max-model-len 1 --tp-size 2 --max-num-seqs 2", ""},
      {"curl --host x --max-model-len 1 --max-num-seqs 2", ""},
      {"-m", ""},
      {"python -m", ""},
  };
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(show(find(SourceFile("run.sh", item.script))) == item.engines);
  }
}

TEST_CASE("an engine that an image starts stands at the command that runs the image") {
  const SourceFile file("run.sh", "docker run -d \\\n  vllm/vllm-openai \\\n  --model m\n");
  const std::vector<Invocation> found = find(file);
  REQUIRE(found.size() == 1);
  CHECK(found[0].where.range == ByteRange{0, 6});
}

TEST_CASE("a batch run is told from a server") {
  const SourceFile file("run.sh",
                        "vllm run-batch -i a -o b --model m\n"
                        "python3 -m vllm.entrypoints.launchers.run_batch -i a -o b --model m\n"
                        "vllm serve m\n");
  const std::vector<Invocation> found = find(file);
  REQUIRE(found.size() == 3);
  CHECK(found[0].use == EngineUse::kBatch);
  CHECK(found[1].use == EngineUse::kBatch);
  CHECK(found[2].use == EngineUse::kServer);
}

TEST_CASE("an engine behind a variable's program stands where it is used") {
  const SourceFile file("run.sh",
                        "PYTHON=${PYTHON:-python3}\n"
                        "$PYTHON -m vllm.entrypoints.openai.api_server --model m\n");
  const std::vector<Invocation> found = find(file);
  REQUIRE(found.size() == 1);
  CHECK(file.position(found[0].where.range.begin).line == 2);

  const SourceFile whole("run.sh", "C=\"vllm serve m\"\n$C\n");
  const std::vector<Invocation> command = find(whole);
  REQUIRE(command.size() == 1);
  CHECK(command[0].where.range.begin == 3);
}
