// What keeps a finding the same finding, and what makes it another one.
#include "lint/fingerprint.h"

#include <set>
#include <string>
#include <vector>

#include "lint/check.h"
#include "lint/collect.h"
#include "lint/inputs.h"
#include "lint/resolve_deployment.h"
#include "rules/all_rules.h"
#include "tests/support/catch.h"
#include "tests/support/memory_files.h"

using namespace kvbudget;

namespace {

std::string pod(const std::string& name, const std::string& arguments) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec:\n  containers:\n    - name: vllm\n      image: vllm/vllm-openai:v0.18.0\n" +
         "      args:\n" + arguments;
}

const std::string kTwoFlags =
    "        - --swap-space=16\n        - --model=org/name\n        - --disable-log-requests\n";

struct Linted {
  std::vector<FindingIdentity> identities;
  std::multiset<std::string> fingerprints;
};

Linted lint(MemoryFiles files, const std::vector<std::string>& paths) {
  SourceStore sources(files);
  InputsResult inputs = read_inputs({}, sources);
  inputs.inputs->models.hub_cache.clear();
  const Resolver resolve = [&](const EngineStart& start) {
    return resolve_deployment(start, *inputs.inputs);
  };
  std::ostringstream out, err;
  std::istringstream in;
  Io io{out, err, in, sources};
  const Collection collection = collect(paths, resolve, io);
  Linted result;
  for (const Diagnostic& finding :
       check(collection, choose_rules({}, all_rules()), false, nullptr)) {
    result.identities.push_back(identity_of(finding, collection.deployments));
    result.fingerprints.insert(finding.fingerprint);
  }
  return result;
}

Linted lint(const std::string& path, const std::string& text) {
  return lint({{path, text}}, {path});
}

}  // namespace

TEST_CASE("a finding is identified by rule, deployment and what it is about") {
  const Linted linted = lint("a.yaml", pod("chat", kTwoFlags));
  const std::string chat = "kubernetes Pod/chat/vllm";
  const std::vector<FindingIdentity> expected = {
      {"KVB001", chat, ""},
      {"KVB401", chat, "swap-space"},
      {"KVB401", chat, "disable-log-requests"},
  };
  CHECK(linted.identities == expected);
}

TEST_CASE("moving lines, renaming the file and changing values keep the fingerprints") {
  const std::string text = pod("chat", kTwoFlags) + "---\na: 1\na: 2\n";
  const Linted before = lint("deploy/a.yaml", text);
  CHECK(before.fingerprints.size() == 4);
  std::string moved(20, '\n');
  moved.insert(0, "# one more\n");
  std::string changed = moved + text;
  changed.replace(changed.find("=16"), 3, "=32");
  changed.replace(changed.find("a: 2"), 4, "a: 7");
  CHECK(lint("other/b.yml", changed).fingerprints == before.fingerprints);
}

TEST_CASE("the order of arguments is not part of a fingerprint") {
  const std::string reordered =
      "        - --model=org/name\n        - --disable-log-requests\n        - --swap-space=16\n";
  CHECK(lint("a.yaml", pod("chat", kTwoFlags)).fingerprints ==
        lint("a.yaml", pod("chat", reordered)).fingerprints);
}

TEST_CASE("another deployment, rule or setting is another fingerprint") {
  std::set<std::string> hashes;
  const FindingIdentity identities[] = {
      {"KVB401", "kubernetes Pod/chat/vllm", "swap-space"},
      {"KVB402", "kubernetes Pod/chat/vllm", "swap-space"},
      {"KVB401", "kubernetes Pod/chat/vllm", "swap"},
      {"KVB401", "kubernetes Pod/batch/vllm", "swap-space"},
      {"KVB401", "kubernetes Pod/chat/vllmswap-space", ""},
  };
  for (const FindingIdentity& identity : identities) hashes.insert(hash_of(identity));
  CHECK(hashes.size() == std::size(identities));
  CHECK(hash_of(identities[0]).size() == 40);
}

TEST_CASE("equal findings are counted") {
  const std::string text = pod("chat", kTwoFlags);
  const Linted linted = lint({{"a.yaml", text}, {"b.yaml", text}}, {"a.yaml", "b.yaml"});
  std::set<std::string> unique(linted.fingerprints.begin(), linted.fingerprints.end());
  CHECK(linted.fingerprints.size() == 6);
  CHECK(unique.size() == 6);
  for (const std::string& fingerprint : lint("a.yaml", text).fingerprints) {
    CHECK(fingerprint.ends_with(":1"));
    CHECK(unique.count(hash_of_fingerprint(fingerprint) + ":2") == 1);
  }
}

TEST_CASE("a finding about a file is identified by its line without numbers and indents") {
  Diagnostic finding;
  finding.rule = "KVB000";
  const SourceFile file("a.yaml", "x: 1\n \tmemory:  24.5Gi  # ignore KVB101\r\n");
  finding.where = {&file, {6, 7}};
  CHECK(identity_of(finding, {}) == FindingIdentity{"KVB000", "", "memory: #.#Gi # ignore KVB101"});
  finding.where = {&file, {0, 0}};
  CHECK(identity_of(finding, {}) == FindingIdentity{"KVB000", "", ""});
}
