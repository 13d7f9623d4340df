#include "lint/diff/match.h"

#include <memory>

#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

/// "file kind/name=model", one a deployment.
class Sides {
 public:
  std::vector<Deployment> read(const std::vector<std::string>& texts) {
    std::vector<Deployment> deployments;
    for (const std::string& text : texts) {
      const size_t space = text.find(' ');
      const size_t slash = text.find('/', space);
      const size_t equals = text.find('=');
      files_.push_back(std::make_unique<SourceFile>(text.substr(0, space), "x"));
      Deployment& d = deployments.emplace_back();
      d.start.file = files_.back().get();
      d.start.where = {d.start.file, {0, 1}};
      d.start.kind = text.substr(space + 1, slash - space - 1);
      d.start.name = text.substr(slash + 1, equals - slash - 1);
      d.model = text.substr(equals + 1);
    }
    return deployments;
  }

 private:
  std::vector<std::unique_ptr<SourceFile>> files_;
};

// "base>head" by index, "-" for none.
std::string matches(const std::vector<std::string>& base, const std::vector<std::string>& head,
                    const std::string& base_folder = "", const std::string& head_folder = "") {
  Sides sides;
  const std::vector<Deployment> before = sides.read(base);
  const std::vector<Deployment> after = sides.read(head);
  std::string text;
  for (const Match& match : match_deployments({before, base_folder}, {after, head_folder})) {
    const auto index = [](int i) { return i < 0 ? std::string("-") : std::to_string(i); };
    text += (text.empty() ? "" : " ") + index(match.base) + ">" + index(match.head);
  }
  return text;
}

}  // namespace

TEST_CASE("kind and name are enough, wherever the file has gone and whatever it serves now") {
  CHECK(matches({"a.yaml k8s/chat=m"}, {"apps/b.yaml k8s/chat=other"}) == "0>0");
  CHECK(matches({"a.yaml k8s/chat=m"}, {"a.yaml compose/chat=m"}) == "->0 0>-");
  CHECK(matches({"a.yaml k8s/chat=m"}, {"a.yaml k8s/code=m"}) == "->0 0>-");
}

TEST_CASE("what shares its name is told apart by file, then by model, then by order") {
  CHECK(matches({"prod.yaml k8s/chat=a", "test.yaml k8s/chat=b"},
                {"prod.yaml k8s/chat=b", "test.yaml k8s/chat=a"}) == "0>0 1>1");
  CHECK(matches({"old/1.yaml k8s/chat=a", "old/2.yaml k8s/chat=b"},
                {"new/x.yaml k8s/chat=b", "new/y.yaml k8s/chat=a"}) == "1>0 0>1");
  CHECK(matches({"old/1.yaml k8s/chat=a", "old/2.yaml k8s/chat=a"},
                {"new/x.yaml k8s/chat=c", "new/y.yaml k8s/chat=d"}) == "0>0 1>1");
}

TEST_CASE("a script that goes is not the one that comes, unless they serve the same") {
  CHECK(matches({"a.sh shell/script=a"}, {"b.sh shell/script=b"}) == "->0 0>-");
  CHECK(matches({"a.sh shell/script=a"}, {"b.sh shell/script=a"}) == "0>0");
  CHECK(matches({"a.sh shell/script=a"}, {"a.sh shell/script=b"}) == "0>0");
}

TEST_CASE("numbers within a file are an order, not a name") {
  CHECK(matches({"a.sh shell/script=a", "a.sh shell/script #2=b"}, {"a.sh shell/script=b"}) ==
        "1>0 0>-");
}

TEST_CASE("paths are compared below the folders of the two sides") {
  CHECK(matches({"one/a.sh shell/script=a", "one/b.sh shell/script=a"},
                {"./two/b.sh shell/script=a", "./two/a.sh shell/script=a"}, "one",
                "two/") == "1>0 0>1");
  CHECK(matches({"one.sh shell/script=a"}, {"two.sh shell/script=b"}, "one.sh", "two.sh") == "0>0");
}
