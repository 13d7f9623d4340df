// What memory rules propose, followed to the end: the figures agree with the message, and no more
// is given up than has to be.

#include <algorithm>
#include <string>
#include <vector>

#include "lint/fix.h"
#include "tests/support/catch.h"
#include "tests/support/pod_text.h"

using namespace kvbudget;

namespace {

const std::string kPath = "pod.yaml";

constexpr const char* kL4 = "NVIDIA-L4";
constexpr const char* kHopper = "NVIDIA-H100-80GB-HBM3";
constexpr const char* kQwen = "Qwen/Qwen2.5-7B-Instruct";
constexpr const char* kLlama = "meta-llama/Llama-3.1-8B-Instruct";

const Diagnostic* of_rule(const test::Linted& linted, std::string_view rule) {
  const auto found = std::find_if(linted.findings.begin(), linted.findings.end(),
                                  [&](const Diagnostic& finding) { return finding.rule == rule; });
  return found == linted.findings.end() ? nullptr : &*found;
}

// The text after so many rounds of all fixes as it takes for nothing to change.
std::string fixed(std::string text) {
  for (int round = 0; round < 8; ++round) {
    const test::Linted linted = test::lint_text(kPath, text);
    const FixedFiles files = apply_fixes(linted.findings, FixLevel::kAll);
    if (files.texts.empty()) break;
    text = files.texts.at(kPath);
  }
  return text;
}

}  // namespace

TEST_CASE(
    "a cache of fixed size that is too large is cut to one that starts, and the sum adds up") {
  size_t cut = 0;
  for (const char* size :
       {"5000M", "5500M", "6000M", "6200M", "6400M", "6600M", "7G", "8G", "30G"}) {
    const std::string flag = std::string("--kv-cache-memory-bytes=") + size;
    for (const char* version : {"0.11.2", "0.19.0", "0.24.0"}) {
      const std::string text = test::pod_text({kL4, version, kQwen, {flag.c_str()}});
      const test::Linted linted = test::lint_text(kPath, text);
      const Diagnostic* finding = of_rule(linted, "KVB116");
      if (finding == nullptr) continue;
      INFO(version << " " << size << ": " << finding->message);
      REQUIRE(finding->fix);
      const FixedFiles files = apply_fixes({*finding}, FixLevel::kAll);
      CHECK(of_rule(test::lint_text(kPath, files.texts.at(kPath)), "KVB116") == nullptr);
      CHECK(finding->message.find("contexts") != std::string::npos);
      ++cut;
    }
  }
  CHECK(cut > 8);
}

TEST_CASE("the length in the fix is the one in the message") {
  for (const char* version : {"0.10.2", "0.19.0", "0.24.0"}) {
    std::string text = test::pod_text({kL4, version, kLlama, {}});
    text.replace(text.find("=4096"), 5, "=131072");
    const test::Linted linted = test::lint_text(kPath, text);
    const Diagnostic* finding = of_rule(linted, "KVB103");
    REQUIRE(finding != nullptr);
    REQUIRE(finding->fix);
    std::string message = finding->message;
    std::erase(message, ',');
    INFO(message << "; " << finding->fix->edits.front().text);
    CHECK(message.find(finding->fix->edits.front().text) != std::string::npos);
  }
}

TEST_CASE("a length that a smaller batch has room for is left alone") {
  std::string text = test::pod_text({kL4, "0.19.0", kQwen, {"--max-num-batched-tokens=32768"}});
  text.replace(text.find("=4096"), 5, "=32768");
  const test::Linted linted = test::lint_text(kPath, text);
  const Diagnostic* length = of_rule(linted, "KVB103");
  REQUIRE(length != nullptr);
  REQUIRE(of_rule(linted, "KVB109") != nullptr);
  CHECK_FALSE(length->fix);
  const std::string after = fixed(text);
  INFO(after);
  CHECK(after.find("--max-model-len=32768") != std::string::npos);
  const test::Linted clean = test::lint_text(kPath, after);
  CHECK(of_rule(clean, "KVB103") == nullptr);
  CHECK(of_rule(clean, "KVB109") == nullptr);
}

TEST_CASE("more places than the cache holds are cut to what the message says") {
  const test::Linted linted =
      test::lint_text(kPath, test::pod_text({kL4, "0.19.0", kLlama, {"--max-num-seqs=1024"}}));
  const Diagnostic* finding = of_rule(linted, "KVB602");
  REQUIRE(finding != nullptr);
  REQUIRE(finding->fix);
  INFO(finding->message);
  CHECK(finding->message.find("; " + finding->fix->edits.front().text + " places") !=
        std::string::npos);
}

TEST_CASE("eager mode is answered with the flag of the release") {
  const auto note_in = [](const char* version) -> std::string {
    std::string text = test::pod_text({kHopper, version, kQwen, {"--enforce-eager"}});
    text += "      ports: [{containerPort: 8000}]\n";
    const test::Linted linted = test::lint_text(kPath, text);
    const Diagnostic* finding = of_rule(linted, "KVB410");
    REQUIRE(finding != nullptr);
    REQUIRE_FALSE(finding->notes.empty());
    return finding->notes.front().message;
  };
  CHECK(note_in("0.19.0").find("--max-cudagraph-capture-size") != std::string::npos);
  CHECK(note_in("0.10.2").find("--cuda-graph-sizes") != std::string::npos);
  CHECK(note_in("0.6.6").find("--") == std::string::npos);
}

TEST_CASE("no number of a flag keeps the linter busy") {
  for (const char* flag :
       {"--decode-context-parallel-size=2147483647", "--prefill-context-parallel-size=2147483647",
        "--max-cudagraph-capture-size=2147483647", "--max-num-batched-tokens=2147483647",
        "--tensor-parallel-size=2147483647", "--max-num-seqs=2147483647"}) {
    const std::string text =
        test::pod_text({kHopper, "0.19.0", kQwen, {flag, "--max-num-batched-tokens=1000000000"}});
    INFO(flag);
    CHECK_FALSE(test::lint_text(kPath, text).findings.empty());
  }
}

TEST_CASE("beside the shorter length stands the number of GPUs that holds the longer") {
  std::string text = test::pod_text({kL4, "0.19.0", kLlama, {}});
  text.replace(text.find("=4096"), 5, "=131072");
  const test::Linted linted = test::lint_text(kPath, text);
  const Diagnostic* finding = of_rule(linted, "KVB103");
  REQUIRE(finding != nullptr);
  const std::string start = "tensor-parallel-size ";
  const auto note = std::find_if(finding->notes.begin(), finding->notes.end(),
                                 [&](const Note& n) { return n.message.starts_with(start); });
  REQUIRE(note != finding->notes.end());
  const std::string size = note->message.substr(start.size(), 1);
  std::string split = test::pod_text(
      {kL4, "0.19.0", kLlama, {("--tensor-parallel-size=" + size).c_str()}, std::stoi(size)});
  split.replace(split.find("=4096"), 5, "=131072");
  CHECK(of_rule(test::lint_text(kPath, split), "KVB103") == nullptr);
}

TEST_CASE("cards that a task leaves open are named") {
  const std::string task =
      "resources: {accelerators: {L4: 1, A100-80GB: 1}}\n"
      "setup: pip install vllm==0.19.0\n"
      "run: vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 8192\n";
  const test::Linted linted = test::lint_text("task.yaml", task);
  const Diagnostic* finding = of_rule(linted, "KVB001");
  REQUIRE(finding != nullptr);
  CHECK(finding->message ==
        "memory was not checked: the file leaves open which GPU it will be: L4, A100-80GB");
  CHECK(of_rule(linted, "KVB312") == nullptr);
}

TEST_CASE("a step for a whole prompt is proposed where there is room for it") {
  const auto proposes = [](const char* gpu, const char* flag) {
    std::string text = test::pod_text(
        {gpu, "0.6.6", kQwen, {"--max-num-batched-tokens=2048", "--no-enable-chunked-prefill"}});
    text.replace(text.find("=4096"), 5, flag);
    const test::Linted linted = test::lint_text(kPath, text);
    const Diagnostic* finding = of_rule(linted, "KVB406");
    REQUIRE(finding != nullptr);
    return finding->fix.has_value();
  };
  CHECK(proposes(kHopper, "=32768"));
  CHECK_FALSE(proposes(kL4, "=32768"));
}
