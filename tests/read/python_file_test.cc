// Python scripts: engines of vLLM's classes, and engines that they start as programs.

#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::string read(const std::string& script) {
  const SourceFile file("run.py", script);
  std::string text;
  for (const EngineStart& start : read_file(file).starts) {
    CHECK(start.kind == "python");
    CHECK(start.where.file == &file);
    const std::string keys = keys_of(start);
    const std::string words = words_of(start);
    text += (text.empty() ? "" : " ; ") + keys + (keys.empty() || words.empty() ? "" : " ") + words;
  }
  return text;
}

struct Case {
  const char* script;
  const char* engines;
};

void check_all(const std::vector<Case>& cases) {
  for (const Case& item : cases) {
    INFO(item.script);
    CHECK(read(std::string("import vllm\n") + item.script) == item.engines);
  }
}

}  // namespace

TEST_CASE("engines that a script makes of vLLM's classes") {
  check_all({
      {"llm = LLM('org/m', max_model_len=4096, enforce_eager=True)",
       "model=org/m max_model_len=4096 enforce_eager=true"},
      {"vllm.LLM(model=M, tensor_parallel_size=args.tp)\nM = 'org/m'",
       "model=org/m tensor_parallel_size=?${args.tp}"},
      {"args = AsyncEngineArgs(model='m', **extra)", "model=m ?${**extra}"},
      {"LLM(*names, dtype='half')", ""},
      {"LLM(**kwargs)", ""},
      {"LLM(model='a'); EngineArgs(model='b')", "model=a ; model=b"},
      {"\"\"\"LLM(model='a')\"\"\"\n# LLM(model='a')", ""},
      {"class LLM(Base): pass", ""},
  });
}

TEST_CASE("classes of other libraries are none of ours") {
  CHECK(read("from crewai import LLM\nllm = LLM(model='hosted_vllm/m', max_model_len=3)").empty());
  CHECK(read("import torch, vllm\nllm = vllm.LLM('m')") == "model=m");
}

TEST_CASE("engines that a script starts as programs") {
  check_all({
      {"subprocess.Popen(['vllm', 'serve', 'm', '--port', str(P)])\nP = 8000", "m --port 8000"},
      {"run([sys.executable, '-m', 'vllm.entrypoints.openai.api_server', f'--model={N}'])\nN = 'm'",
       "--model=m"},
      {"cmd = ['vllm', 'serve', 'm', '--a', x]\nPopen(cmd)  # vllm", "m --a ?${x}"},
      {"cmd = ['vllm', 'serve', 'm']\ncmd += ['--a']\ncmd.append('--b')\nif c:\n  cmd += ['--d']",
       "m --a --b ?--d"},
      {"def f():\n  cmd = ['vllm', 'serve', 'm']\n  if c:\n    pass\n  cmd.extend(['--a', n])\n"
       "  return cmd",
       "m --a ?${n}"},
      {"cmd = ['vllm', 'serve', 'm']\ncmd += extra", "m ?${…}"},
      {"cmd = ['vllm', 'serve', 'm', *extra]", "m ?${*extra}"},
      {"cmd = ['vllm', 'serve', 'm', '--a' if x else '--b']", "m ?${'--a' if x else '--b'}"},
      {"def f():\n  return ['vllm', 'serve', 'm']", "m"},
      {"os.system('vllm serve m --a 1')", "m --a 1"},
      {"subprocess.run(f'vllm serve {M} '\n  '--a', shell=True)\nM = 'm'", "m --a"},
      {"await asyncio.create_subprocess_exec('vllm', 'serve', 'm', '--a')", "m --a"},
      {"assert cmd == ['vllm', 'serve', 'm']", ""},
      {"print('vllm serve m')", ""},
      {"subprocess.run(['vllm', 'run-batch', '-i', 'a', '--model', 'm'])", "-i a --model m"},
  });
}

TEST_CASE("what an engine runs in decides its defaults") {
  const auto use = [](const std::string& script) {
    const SourceFile file("run.py", "import vllm\n" + script);
    const FileContents contents = read_file(file);
    REQUIRE(contents.starts.size() == 1);
    return contents.starts[0].use;
  };
  CHECK(use("LLM(model='m')") == EngineUse::kOffline);
  CHECK(use("AsyncEngineArgs(model='m')") == EngineUse::kEmbedded);
  CHECK(use("a = AsyncEngineArgs(model='m')\nf(a, usage_context=UsageContext.OPENAI_API_SERVER)") ==
        EngineUse::kServer);
  CHECK(use("a = EngineArgs(model='m')\nLLM(**asdict(a))") == EngineUse::kOffline);
  CHECK(use("run(['vllm', 'serve', 'm'])") == EngineUse::kServer);
}

TEST_CASE("a script says on which card its platform runs it, and of which release") {
  const SourceFile file("app.py", R"(
import modal
CARDS = 2
image = (
    modal.Image.debian_slim()
    .uv_pip_install("vllm==0.13.0")
    .env({"VLLM_A": "1"})
)
os.environ["VLLM_B"] = "2"
app = modal.App("x")

@app.function(image=image, gpu=f"H100:{CARDS}")
def serve():
    subprocess.Popen(["vllm", "serve", "m"])
)");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  const EngineStart& start = contents.starts[0];
  REQUIRE(start.gpu.name);
  CHECK(start.gpu.name->value == "H100");
  REQUIRE(start.gpu.count);
  CHECK(start.gpu.count->value == 2);
  REQUIRE(start.version);
  CHECK(start.version->view() == "0.13.0");
  REQUIRE(start.env.size() == 2);
  CHECK(start.env[0].name.view() == "VLLM_A");
  CHECK(start.env[1].value.view() == "2");
}

TEST_CASE("scripts that ask for several cards name none") {
  const SourceFile file("app.py",
                        "import vllm\n@app.cls(gpu='L4')\nclass A: pass\n@app.cls(gpu='T4')\n"
                        "class B:\n  llm = vllm.LLM('m')\n");
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  CHECK_FALSE(contents.starts[0].gpu.name);
}
