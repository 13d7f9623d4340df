#include "lint/diff/writers.h"

#include <sstream>

#include "tests/report/sample.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

struct Fixture {
  SourceFile file{"a.yaml", "x"};
  ComparedSide base, head;

  Fixture() {
    base.name = "main";
    head.name = "working tree";
    base.deployments.push_back(sample_deployment(file));
    head.deployments.push_back(sample_deployment(file));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  std::string write(void (*writer)(const DiffView&, std::ostream&),
                    std::optional<double> percent = std::nullopt) const {
    const DiffReport report = compare(base, head, percent);
    std::ostringstream out;
    writer({base, head, report}, out);
    return out.str();
  }
};

void halve(memory::Estimate& e) {
  e.best.tokens = 524288;
  e.best.max_concurrency = 64.4;
  e.best.example_concurrency = 64.4;
  e.terms[0].bytes = memory::Interval::exact(uint64_t{12} << 30);
}

}  // namespace

TEST_CASE("text shows what differs, the old value before the new") {
  Fixture fixture;
  halve(*fixture.head.deployments[0].estimate);
  fixture.base.deployments[0].estimate->best.example_concurrency = 128.004;
  CHECK(fixture.write(write_diff_text, 10.0) ==
        "a.yaml:1: compose service chat: org/name\n"
        "  KV tokens                     1,048,576 -> 524,288  (-50 %)\n"
        "  concurrency at max-model-len        128 -> 64.4  (-49.7 %)\n"
        "  concurrency at 8k                   128 -> 64.4  (-49.7 %)\n"
        "  weights                        8.00 GiB -> 12.00 GiB  (+50 %)\n"
        "  loss: KV tokens -50 %\n"
        "  loss: concurrency at max-model-len -49.7 %\n"
        "  loss: concurrency at 8k -49.7 %\n"
        "\n"
        "main -> working tree: 1 deployment changed, 1 deployment with a loss\n");
}

TEST_CASE("Markdown says it in sentences") {
  Fixture fixture;
  halve(*fixture.head.deployments[0].estimate);
  fixture.head.deployments[0].estimate->verdict = memory::Verdict::kRefuses;
  fixture.head.deployments[0].estimate->because = "nothing is left";
  CHECK(fixture.write(write_diff_markdown) ==
        "### kvbudget: 1 deployment changed <!-- kvbudget diff -->\n"
        "\n"
        "**`service chat`** in `a.yaml`\n"
        "\n"
        "- **starts → refuses**: nothing is left\n"
        "- KV tokens fall from 1,048,576 to 524,288 (-50 %)\n"
        "- concurrency at max-model-len falls from 128 to 64.4 (-49.7 %)\n"
        "- concurrency at 8k: 64.4\n"
        "- weights rise from 8.00 GiB to 12.00 GiB (+50 %)\n"
        "\n"
        "<sub>main → working tree</sub>\n");
}

TEST_CASE("no change is nothing in text and one line in Markdown") {
  const Fixture fixture;
  CHECK(fixture.write(write_diff_text) == "");
  CHECK(fixture.write(write_diff_markdown) ==
        "kvbudget: no change to memory, KV cache or findings <!-- kvbudget diff -->\n");
}

TEST_CASE("nothing in a change's files acts in the comment") {
  Fixture fixture;
  fixture.head.deployments[0].start.name = "x` @team <img src=x> [a](b)\n# heading";
  Diagnostic& finding = fixture.head.findings.emplace_back(finding_at(fixture.file, "x"));
  finding.message = "@team see #1 <script> **bold** [a](http://b)";
  finding.deployment = 0;
  const std::string text = fixture.write(write_diff_markdown);
  INFO(text);
  CHECK(text.find("**`x' @team <img src=x> [a](b)") != std::string::npos);
  CHECK(text.find("\n# heading") == std::string::npos);
  CHECK(text.find("&#64;team see &#35;1 &#60;script&#62; &#42;&#42;bold") != std::string::npos);
}

TEST_CASE("an added deployment shows what it serves, a removed one that it is gone") {
  Fixture fixture;
  fixture.head.deployments[0].start.name = "service code";
  CHECK(fixture.write(write_diff_markdown) ==
        "### kvbudget: 1 deployment added, 1 deployment removed <!-- kvbudget diff -->\n"
        "\n"
        "**`service code`** in `a.yaml` (added): `org/name`\n"
        "\n"
        "- **starts**: 4.00 GiB are left\n"
        "- KV tokens: 1,048,576\n"
        "- concurrency at max-model-len: 128\n"
        "- longest context: 1,048,576\n"
        "\n"
        "**`service chat`** in `a.yaml` (removed)\n"
        "\n"
        "\n"
        "<sub>main → working tree</sub>\n");
}

TEST_CASE("a text that is cut stays UTF-8") {
  Fixture fixture;
  fixture.head.deployments[0].estimate->verdict = memory::Verdict::kUnsure;
  fixture.head.deployments[0].estimate->because = std::string(399, 'x') + "ü and more";
  const std::string text = fixture.write(write_diff_markdown);
  CHECK(text.find("x\xC3") == std::string::npos);
  CHECK(text.find("…\n") != std::string::npos);
}

TEST_CASE("a comment stays short however much changes") {
  Fixture fixture;
  fixture.base.deployments.clear();
  const Deployment one = fixture.head.deployments[0];
  for (int i = 0; i < 500; ++i) {
    Deployment d = one;
    d.start.name = "service " + std::to_string(i) + std::string(1000, 'x');
    fixture.head.deployments.push_back(std::move(d));
  }
  const std::string text = fixture.write(write_diff_markdown);
  CHECK(text.size() < 65536);
  CHECK(text.find("and 481 more deployments") != std::string::npos);
  for (Deployment& d : fixture.head.deployments) d.model = std::string(1000, '<');
  for (int i = 0; i < 5000; ++i) {
    Diagnostic& finding = fixture.head.findings.emplace_back(finding_at(fixture.file, "x"));
    finding.message = std::string(1000, '<');
    finding.deployment = i % 100;
  }
  CHECK(fixture.write(write_diff_markdown).size() < 65536);
}

TEST_CASE("numbers get as many digits as it takes to see the difference") {
  const Figure* gib = nullptr;
  for (const Figure& figure : figures()) {
    if (figure.unit == Figure::Unit::kGib) gib = &figure;
  }
  REQUIRE(gib != nullptr);
  const double one = 1024.0 * 1024 * 1024;
  FigureChange change{gib, Interval3{one, one, one}, Interval3{one, one * 1.001, one}};
  CHECK(figure_texts(change).first == "1 GiB");
  CHECK(figure_texts(change).second == "1.001 GiB");
  change.head = Interval3{one / 2, one, one * 2};
  CHECK(figure_texts(change).first == "1.00 GiB (1.00 GiB to 1.00 GiB)");
  CHECK(figure_texts(change).second == "1.00 GiB (0.50 GiB to 2.00 GiB)");
  CHECK(percent_text(change) == "");
}
