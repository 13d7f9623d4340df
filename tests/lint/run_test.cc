// Runs of the whole program on files in memory, with rules and a resolver of our own: what is read,
// in what order findings come out, and which exit code it ends with.
#include "lint/run.h"

#include <sstream>

#include "tests/support/catch.h"
#include "tests/support/memory_files.h"

using namespace kvbudget;

namespace {

const std::string kPod = R"yaml(apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.19.0
      args: ["--model=org/name", "--max-model-len=8192"]
)yaml";

Location start_of(const SourceFile& file, std::string_view needle) {
  const auto at = static_cast<uint32_t>(file.bytes().find(needle));
  return {&file, {at, at + static_cast<uint32_t>(needle.size())}};
}

// One finding at the model's length, said twice; and one above it, said later.
void check_length(const Deployment& deployment, Reporter& reporter) {
  const SourceFile& file = *deployment.start.file;
  reporter.report(start_of(file, "8192"), "too long");
  reporter.report(start_of(file, "8192"), "too long");
  reporter.report(start_of(file, "vllm/vllm-openai"), "too old", Severity::kWarning);
}

void check_known(const Deployment& deployment, Reporter& reporter) {
  reporter.report(deployment.start.where, "not checked");
}

void check_syntax(const std::vector<SyntaxError>& errors, Reporter& reporter) {
  for (const SyntaxError& error : errors) reporter.report(error.where, error.message);
}

struct Rules {
  Rule syntax, known, length;
  std::vector<const Rule*> table{&syntax, &known, &length};

  Rules() {
    syntax.id = "KVB000";
    syntax.name = "syntax-error";
    syntax.severity = Severity::kError;
    syntax.check_file = check_syntax;
    known.id = "KVB001";
    known.name = "not-checked";
    known.severity = Severity::kInfo;
    known.check_deployment = check_known;
    length.id = "KVB103";
    length.name = "max-model-len-exceeds-kv";
    length.severity = Severity::kError;
    length.summary = "the cache holds less";
    length.doc = "\n## What it does\nCompares.\n";
    length.check_deployment = check_length;
  }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;
};

struct Outcome {
  int code = 0;
  std::string out, err;
};

Outcome run_rules(RuleTable rules, MemoryFiles& files, const Options& options,
                  const std::string& input) {
  SourceStore sources(files);
  std::ostringstream out, err;
  std::istringstream in(input);
  Projects projects(sources);
  Io io{out, err, in, sources, &projects};
  const Resolver resolve = [](const EngineStart& start) {
    Deployment deployment;
    deployment.start = start;
    return deployment;
  };
  Outcome outcome;
  outcome.code = run(options, rules, resolve, io);
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

Outcome run_on(MemoryFiles& files, const Options& options, const std::string& input = "") {
  const Rules rules;
  return run_rules(rules.table, files, options, input);
}

Options lint(std::vector<std::string> paths) {
  Options options;
  options.command = "lint";
  options.paths = std::move(paths);
  return options;
}

size_t count(const std::string& text, std::string_view needle) {
  size_t result = 0;
  for (size_t at = text.find(needle); at != std::string::npos; at = text.find(needle, at + 1)) {
    ++result;
  }
  return result;
}

}  // namespace

TEST_CASE("a file without an engine start gives no output and exit code 0") {
  MemoryFiles files{{"a.yaml", "kind: ConfigMap\n"}};
  const Outcome outcome = run_on(files, lint({"a.yaml"}));
  CHECK(outcome.code == kClean);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.empty());
}

TEST_CASE("findings are sorted by place and said once") {
  MemoryFiles files{{"b.yaml", kPod}, {"a.yaml", kPod}};
  const Outcome outcome = run_on(files, lint({"b.yaml", "a.yaml"}));
  CHECK(outcome.code == kFindings);
  CHECK(count(outcome.out, "too long [KVB103]") == 2);
  const size_t a_old = outcome.out.find("a.yaml:7:14: warning: too old");
  const size_t a_long = outcome.out.find("a.yaml:8:51: error: too long");
  const size_t b_old = outcome.out.find("b.yaml:7:14: warning: too old");
  CHECK(a_old < a_long);
  CHECK(a_long < b_old);
  CHECK(b_old != std::string::npos);
  CHECK(outcome.out.ends_with("2 errors, 2 warnings, 2 infos in 2 files\n"));
}

TEST_CASE("the exit code follows --fail-on") {
  MemoryFiles files{{"a.yaml", kPod}};
  Options options = lint({"a.yaml"});
  options.ignore = {"KVB103"};
  CHECK(run_on(files, options).code == kClean);
  options.fail_on = Severity::kInfo;
  CHECK(run_on(files, options).code == kFindings);
}

TEST_CASE("option --require-complete turns KVB001 into an error") {
  MemoryFiles files{{"a.yaml", kPod}};
  Options options = lint({"a.yaml"});
  options.select = {"not-checked"};
  CHECK(run_on(files, options).code == kClean);
  options.require_complete = true;
  const Outcome outcome = run_on(files, options);
  CHECK(outcome.code == kFindings);
  CHECK(outcome.out.find("error: not checked [KVB001]") != std::string::npos);
}

TEST_CASE("a comment in the file silences a finding") {
  std::string text = kPod;
  text.insert(text.find("      args:"), "      # kvbudget: ignore KVB103 -- measured\n");
  MemoryFiles files{{"a.yaml", text}};
  const Outcome outcome = run_on(files, lint({"a.yaml"}));
  CHECK(outcome.code == kClean);
  CHECK(count(outcome.out, "too long") == 0);
  CHECK(count(outcome.out, "too old") == 1);
}

TEST_CASE("standard input is linted like a file") {
  MemoryFiles files{};
  const Outcome outcome = run_on(files, lint({"-"}), kPod);
  CHECK(outcome.code == kFindings);
  CHECK(count(outcome.out, "<stdin>:8:51: error: too long [KVB103]") == 1);
}

TEST_CASE("a file that cannot be read is named, the others are still linted, exit code 3") {
  MemoryFiles files{{"a.yaml", kPod}, {"secret.yaml", kPod}};
  files.denied.insert("secret.yaml");
  const Outcome missing = run_on(files, lint({"missing.yaml", "a.yaml"}));
  CHECK(missing.code == kFailed);
  CHECK(missing.err == "kvbudget: missing.yaml: no such file or folder\n");
  CHECK(count(missing.out, "too long") == 1);
  const Outcome denied = run_on(files, lint({"secret.yaml"}));
  CHECK(denied.code == kFailed);
  CHECK(denied.err == "kvbudget: secret.yaml: permission denied\n");
}

TEST_CASE("a file that is too big is a finding when named and left out when walked") {
  MemoryFiles files{{"d/big.yaml", std::string(kMaxFileBytes + 1, ' ')}};
  const Outcome named = run_on(files, lint({"d/big.yaml"}));
  CHECK(named.code == kFindings);
  CHECK(count(named.out, "d/big.yaml:1:1: error: the file has more than 16 MiB") == 1);
  CHECK(run_on(files, lint({"d"})).code == kClean);
}

TEST_CASE("wrong rule names and formats are usage errors that name the nearest right one") {
  MemoryFiles files{{"a.yaml", kPod}};
  Options options = lint({"a.yaml"});
  options.select = {"KVB13"};
  CHECK(run_on(files, options).code == kUsage);
  options.select = {"max-model-len-exceed-kv"};
  CHECK(run_on(files, options).err ==
        "kvbudget: --select: no rule 'max-model-len-exceed-kv'; did you mean "
        "'max-model-len-exceeds-kv'?\n");
  options = lint({"a.yaml"});
  options.outputs = {{"jsno", ""}};
  const Outcome format = run_on(files, options);
  CHECK(format.code == kUsage);
  CHECK(format.err == "kvbudget: lint: no format 'jsno'; did you mean 'json'?\n");
  CHECK(format.out.empty());
}

TEST_CASE("every output is written in its own format to its own place") {
  MemoryFiles files{{"a.yaml", kPod}};
  Options options = lint({"a.yaml"});
  options.outputs = {{"text", ""}, {"json", "out.json"}};
  const Outcome outcome = run_on(files, options);
  CHECK(count(outcome.out, "too long [KVB103]") == 1);
  CHECK(files.text("out.json").starts_with("{\n  \"schema\": 1,"));

  files.denied.insert("out.json");
  const Outcome denied = run_on(files, options);
  CHECK(denied.code == kFailed);
  CHECK(denied.err == "kvbudget: out.json: permission denied\n");
}

TEST_CASE("estimate says when there is nothing to estimate") {
  MemoryFiles files{{"a.yaml", kPod}, {"empty.yaml", "a: 1\n"}};
  Options options;
  options.command = "estimate";
  CHECK(run_on(files, options).code == kUsage);
  options.paths = {"empty.yaml"};
  CHECK(run_on(files, options).code == kFailed);
  options.paths = {"a.yaml"};
  options.command_line = {"vllm", "serve", "org/name"};
  CHECK(run_on(files, options).code == kUsage);
}

TEST_CASE("explain prints a rule by id or name") {
  MemoryFiles files{};
  Options options;
  options.command = "explain";
  CHECK(run_on(files, options).code == kUsage);
  options.paths = {"KVB103"};
  const Outcome by_id = run_on(files, options);
  CHECK(by_id.code == kClean);
  CHECK(by_id.out ==
        "# KVB103 max-model-len-exceeds-kv\n\nerror: the cache holds less\n\n## What it "
        "does\nCompares.\n");
  options.paths = {"max-model-len-exceeds-kv"};
  CHECK(run_on(files, options).out == by_id.out);
  options.paths = {"KVB999"};
  CHECK(run_on(files, options).code == kUsage);
}

TEST_CASE("the same files give the same bytes on every run") {
  MemoryFiles files{{"d/b.yaml", kPod}, {"d/a.yaml", kPod}, {"d/c.yaml", "a: [\n"}};
  Options options = lint({"d"});
  options.outputs = {{"text", ""}, {"json", ""}};
  CHECK(run_on(files, options).out == run_on(files, options).out);
}

// Wants every length to be 4096.
void check_with_fix(const Deployment& deployment, Reporter& reporter) {
  const SourceFile& file = *deployment.start.file;
  if (file.bytes().find("8192") == std::string_view::npos) return;
  Diagnostic& finding = reporter.report(start_of(file, "8192"), "too long");
  finding.fix = Fix{false, "4096", {{start_of(file, "8192"), "4096"}}};
}

TEST_CASE("fixes are written to the files, and what they settle is not reported") {
  Rule rule;
  rule.id = "KVB103";
  rule.name = "max-model-len-exceeds-kv";
  rule.severity = Severity::kError;
  rule.check_deployment = check_with_fix;
  const std::vector<const Rule*> table = {&rule};
  MemoryFiles files{{"pod.yaml", kPod}};
  Options options = lint({"pod.yaml"});
  options.fix_level = FixLevel::kSafe;
  CHECK(run_rules(table, files, options, "").code == kFindings);
  CHECK(files.text("pod.yaml") == kPod);

  options.fix_level = FixLevel::kAll;
  const Outcome outcome = run_rules(table, files, options, "");
  CHECK(outcome.code == kClean);
  CHECK(outcome.out == "applied 1 fix\n");
  std::string fixed = kPod;
  fixed.replace(fixed.find("8192"), 4, "4096");
  CHECK(files.text("pod.yaml") == fixed);
}

TEST_CASE("a project file turns rules off, and a rule it misspells is an error") {
  MemoryFiles files{{"pod.yaml", kPod}, {".kvbudget.yaml", "rules: {KVB103: off, KVB001: off}"}};
  CHECK(run_on(files, lint({"pod.yaml"})).code == kClean);
  MemoryFiles wrong{{"pod.yaml", kPod}, {".kvbudget.yaml", "rules: {KVB13: off}"}};
  const Outcome outcome = run_on(wrong, lint({"pod.yaml"}));
  CHECK(outcome.code == kUsage);
  CHECK(outcome.err.find("did you mean") != std::string::npos);
}

TEST_CASE("output does not depend on the number of threads") {
  MemoryFiles files{{"z.yaml", "kind: vllm\n  broken: [\n"}};
  const std::string keys = "abcdefghijklmnopqrstuvwxyz";
  for (int i = 0; i < 300; ++i) {
    const std::string path = std::string(1, keys[i % 26]) + "/" + std::to_string(i) + ".yaml";
    files.write(path, i % 3 == 0 ? kPod : "kind: Pod # vllm\nspec: {containers: 3\n");
  }
  std::string first;
  for (const unsigned threads : {1U, 2U, 8U}) {
    SourceStore sources(files);
    std::ostringstream out, err;
    std::istringstream in;
    Projects projects(sources);
    Io io{out, err, in, sources, &projects, threads};
    const Rules rules;
    const Resolver resolve = [](const EngineStart& start) {
      Deployment deployment;
      deployment.start = start;
      return deployment;
    };
    run(lint({"."}), rules.table, resolve, io);
    if (threads == 1) first = out.str();
    CHECK(out.str() == first);
    CHECK(count(out.str(), "[KVB103]") == 200);
  }
}

TEST_CASE("what a kustomization deploys in another shape is not reported by itself") {
  MemoryFiles files{{"d/base/kustomization.yaml", "resources: [pod.yaml]\n"},
                    {"d/base/pod.yaml", kPod},
                    {"d/other.yaml", kPod},
                    {"d/prod/kustomization.yaml", "resources: [../base]\n"}};
  Options options = lint({"d"});
  options.command = "inspect";
  const Outcome outcome = run_on(files, options);
  CHECK(count(outcome.out, "kubernetes, ") == 2);
  CHECK(outcome.out.find("d/prod/kustomization.yaml:1:1: kubernetes, prod: Pod/chat/vllm") !=
        std::string::npos);
  CHECK(outcome.out.find("d/other.yaml") != std::string::npos);
}
