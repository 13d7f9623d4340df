#include "lint/read/python_script.h"

#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

std::string show(const Node& node) {
  if (node.is_scalar()) return node.text.str();
  if (node.kind == Node::Kind::kNull) return "null";
  std::string result;
  for (const NodePtr& item : node.items) result += (result.empty() ? "" : " ") + show(*item);
  if (node.is_sequence()) return "[" + result + "]";
  for (const Entry& entry : node.entries) {
    result += (result.empty() ? "" : " ") + entry.key.str() + ":" + show(*entry.value);
  }
  return "{" + result + "}";
}

std::string argument(const std::string& before, const std::string& expression) {
  const SourceFile file("a.py", before + "\nLLM(x=" + expression + ")\n");
  const SourceText text(file, {0, static_cast<uint32_t>(file.bytes().size())});
  const std::vector<EnvVar> env = {
      {SourceText("SET"), SourceText("value"), true},
      {SourceText("SECRET"), SourceText(), false},
  };
  PythonScript script(text);
  script.see(env);
  for (const PythonCall& call : script.calls()) {
    if (call.name != "LLM") continue;
    const NodePtr arguments = script.arguments_of(call);
    return arguments == nullptr ? "too much" : show(*arguments);
  }
  return "no call";
}

}  // namespace

TEST_CASE("values of a Python script that can be read") {
  struct Case {
    const char* before;
    const char* expression;
    const char* value;
  };
  const Case cases[] = {
      {"", "'a'", "{x:a}"},
      {"", "\"\"\"a\"\"\"", "{x:a}"},
      {"", "-1_000.5", "{x:-1000.5}"},
      {"", "True, y=None", "{x:true y:null}"},
      {"", "{'a': [1, 2], 'b': (3)}", "{x:{a:[1 2] b:3}}"},
      {"", "dict(a=1, b=Config(c='d'))", "{x:{a:1 b:{c:d}}}"},
      {"N = 5  # five", "N", "{x:5}"},
      {"N: int = 5", "N", "{x:5}"},
      {"N = M\nM = 'm'", "N", "{x:m}"},
      {"", "os.environ['SET']", "{x:value}"},
      {"", "os.getenv('NONE', \"d\")", "{x:d}"},
      {"", "int(os.environ.get('NONE', '4'))", "{x:4}"},
      {"", "'a' 'b'", "{x:ab}"},
      {"", "('a'  # one\n  'b')", "{x:ab}"},
      {"", "'a\\\nb\\'c'", "{x:ab'c}"},
      {"", "rf'a\\{{{{'", "{x:a\\{{}"},
      {"A = 'a'", "f'{A}-{{b}}'", "{x:a-{b}}"},
      {"A = 'a'\n'text'", "A", "{x:a}"},
      {"A = [\n  'a',\n  'b'\n  'c',\n]", "A", "{x:[a bc]}"},
      {"A = dict(\n  a=1,\n  b='c'\n  'd')", "A", "{x:{a:1 b:cd}}"},
      {"if a:\n  N = 5", "N", "{x:5}"},
      {"", "1,  # a comment, with a comma\n  y=2", "{x:1 y:2}"},
      // What cannot be known is a placeholder.
      {"N = 5\nN = 6", "N", "{x:${N}}"},
      {"N = 5\nN += 1", "N", "{x:${N}}"},
      {"", "N", "{x:${N}}"},
      {"", "1 + 2", "{x:${1 + 2}}"},
      {"", "f'{a}'", "{x:${a}}"},
      {"", "f'{a + 1}-{b!r}'", "{x:${a + 1}-${b!r}}"},
      {"", "'a\\n'", "{x:${'a\\n'}}"},
      {"", "b'a'", "{x:${b'a'}}"},
      {"", "'a' + 'b'", "{x:${'a' + 'b'}}"},
      {"", "4\n  * 2, y=1", "{x:${4} y:1}"},
      {"", "dict(**base, a=1)", "{x:${dict(**base, a=1)}}"},
      {"", "A if b else 'c'", "{x:${A if b else 'c'}}"},
      // A name that anything else binds, anywhere.
      {"N = 5\ndef f(N=1):\n  pass", "N", "{x:${N}}"},
      {"N = 5\nf = lambda N: N", "N", "{x:${N}}"},
      {"N = 5\nfor N in a:\n  pass", "N", "{x:${N}}"},
      {"N = 5\nfrom a import M as N", "N", "{x:${N}}"},
      {"from a import N\nN = 5", "N", "{x:${N}}"},
      {"N, M = 1, 2\nN = 5", "N", "{x:${N}}"},
      {"N = 5\nif a: N = 6", "N", "{x:${N}}"},
      {"N = 5\nif (N := 6): pass", "N", "{x:${N}}"},
      {"N = {'a': 1}\nN['a'] = 2", "N", "{x:${N}}"},
      {"N = [1]\nN.append(2)", "N", "{x:${N}}"},
      {"", "pick(1, 2), y=3", "{x:${pick(1, 2)} y:3}"},
      {"", "args.model, y=3", "{x:${args.model} y:3}"},
      {"", "os.environ['SECRET']", "{x:${SECRET}}"},
      {"", "os.environ['NONE']", "{x:${'NONE'}}"},
      {"def f(N=1):\n  pass", "N", "{x:${N}}"},
      {"A = A", "A", "{x:${A}}"},
      {"'''\nLLM(x=1)\n'''", "2", "{x:2}"},
  };
  for (const Case& item : cases) {
    INFO(item.before << "\n" << item.expression);
    CHECK(argument(item.before, item.expression) == item.value);
  }
}

TEST_CASE("names that stand for ever more names do not take forever") {
  std::string before;
  for (int i = 0; i < 20; ++i) {
    const std::string next = "A" + std::to_string(i + 1);
    before += "A" + std::to_string(i) + " = [" + next + ", " + next + ", " + next + "]\n";
  }
  CHECK(argument(before + "A20 = 1", "A0") == "too much");
  before = "A = '" + std::string(100'000, 'a') + "'\n";
  CHECK(argument(before, "A").size() > 100'000);
  std::string list = "[";
  for (int i = 0; i < 1000; ++i) list += "A, ";
  CHECK(argument(before, list + "]") == "too much");
  CHECK(argument("", std::string(10000, '[')) != "no call");
}

TEST_CASE("a hostile script is read in time") {
  constexpr size_t kTimes = 100'000;
  for (const char* piece : {"def (", "lambda ", "LLM(", "for x in ", "f'{a}'", "Popen(['vllm',",
                            ".env(", "os.environ['A'] = 1\n", "cmd += a[0] + b\n"}) {
    std::string script = "import vllm\ncmd = ['vllm', 'serve', 'm']\n";
    for (size_t i = 0; i < kTimes && script.size() < 900'000; ++i) script += piece;
    const SourceFile file("a.py", std::move(script));
    INFO(piece);
    CHECK(read_file(file).starts.size() <= 500);
  }
}
