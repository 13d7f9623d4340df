#include "lint/read/kustomize_build.h"

#include <map>
#include <memory>

#include "tests/read/starts.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

constexpr const char* kBase =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llm, labels: {app: llm}}\nspec:\n"
    "  replicas: 1\n  template:\n    spec:\n      containers:\n      - name: server\n"
    "        image: vllm/vllm-openai\n        command: [vllm, serve]\n"
    "        args: [$(MODEL), --max-model-len=4096]\n"
    "        envFrom: [{configMapRef: {name: runtime}}]\n";

/// Files in memory, opened like those on disk.
class Files {
 public:
  explicit Files(std::map<std::string, std::string> texts) {
    for (const auto& [path, text] : texts) {
      files_[path] = std::make_unique<SourceFile>(path, text);
    }
  }
  const SourceFile* open(const std::string& path) const {
    const auto found = files_.find(path);
    return found == files_.end() ? nullptr : found->second.get();
  }
  KustomizeBuild build(const std::string& path) const {
    Kustomizer kustomizer([this](const std::string& name) { return open(name); });
    return kustomizer.build(*open(path));
  }

 private:
  std::map<std::string, std::unique_ptr<SourceFile>> files_;
};

/// The only engine of an overlay over kBase, which says `overlay` beside its resource.
EngineStart overlaid(const std::string& overlay, const std::string& patch = "") {
  const Files files({{"d/base/kustomization.yaml", "resources: [deployment.yaml]\n"},
                     {"d/base/deployment.yaml", kBase},
                     {"d/prod/patch.yaml", patch},
                     {"d/prod/.env", "# why\nMODEL=org/env\n"},
                     {"d/prod/kustomization.yaml", "resources: [../base]\n" + overlay}});
  const KustomizeBuild build = files.build("d/prod/kustomization.yaml");
  REQUIRE(build.starts.size() == 1);
  CHECK(build.starts[0].name == "prod: Deployment/llm/server");
  EngineStart start = build.starts[0];
  start.file = nullptr;  // it is gone with the files
  start.where = {};
  return start;
}

}  // namespace

TEST_CASE("an overlay is read with what it is laid over") {
  struct Case {
    const char* overlay;
    const char* patch;
    const char* words;
  };
  const Case cases[] = {
      {"", "", "?$(MODEL) --max-model-len=4096"},
      {"configMapGenerator: [{name: runtime, literals: [MODEL=org/m]}]\n", "",
       "org/m --max-model-len=4096"},
      {"configMapGenerator: [{name: runtime, envs: [.env]}]\n", "", "org/env --max-model-len=4096"},
      {"patches: [{path: patch.yaml}]\n",
       "kind: Deployment\nmetadata: {name: llm}\nspec: {template: {spec: {containers: [{name: "
       "server, args: [m, --max-num-seqs=1]}]}}}\n",
       "m --max-num-seqs=1"},
      {"patches: [{path: patch.yaml}]\n", "kind: Deployment\nmetadata: {name: other}\n",
       "?$(MODEL) --max-model-len=4096"},
      {"patches: [{path: patch.yaml, target: {kind: Deployment}}]\n",
       "- {op: add, path: /spec/template/spec/containers/0/args/-, value: --enforce-eager}\n"
       "- {op: replace, path: /spec/template/spec/containers/0/args/0, value: m}\n",
       "m --max-model-len=4096 --enforce-eager"},
      {"patches: [{path: patch.yaml, target: {name: 'l.*', labelSelector: app=llm}}]\n",
       "- {op: remove, path: /spec/template/spec/containers/0/args/1}\n", "?$(MODEL)"},
      {"patches: [{path: patch.yaml, target: {kind: StatefulSet}}]\n",
       "- {op: remove, path: /spec/template/spec/containers/0/args/1}\n",
       "?$(MODEL) --max-model-len=4096"},
      {"patches:\n- target: {kind: Deployment}\n  patch: |-\n    - op: add\n"
       "      path: /spec/template/spec/containers/0/args/0\n      value: m\n",
       "", "m ?$(MODEL) --max-model-len=4096"},
  };
  for (const Case& item : cases) {
    INFO(item.overlay << item.patch);
    CHECK(words_of(overlaid(item.overlay, item.patch)) == item.words);
  }
}

TEST_CASE("replacements and variables bring values of one manifest into another") {
  const std::string map =
      "configMapGenerator: [{name: cfg, literals: [model=org/m, limits=4096:8]}]\n";
  const std::string container = "spec.template.spec.containers.[name=server]";
  const auto replacement = [&](const std::string& source, const std::string& path,
                               const std::string& options = "") {
    return map + "replacements:\n- source: {kind: ConfigMap, name: cfg, fieldPath: " + source +
           "}\n  targets:\n  - select: {kind: Deployment}\n    fieldPaths: ['" + path + "']\n" +
           options;
  };
  const std::string parts = "    options: {delimiter: '=', index: 1}\n";
  struct Case {
    std::string overlay;
    const char* words;
  };
  const Case cases[] = {
      {replacement("data.model", container + ".args.0"), "org/m --max-model-len=4096"},
      {replacement("data.model", container + ".args.[=$(MODEL)]"), "org/m --max-model-len=4096"},
      {replacement("data.model", "spec.template.spec.containers.*.args.0"),
       "org/m --max-model-len=4096"},
      {replacement("'data.limits', options: {delimiter: ':', index: 1}", container + ".args.1",
                   parts),
       "?$(MODEL) --max-model-len=8"},
      {replacement("data.model", container + ".args.7"), "?$(MODEL) --max-model-len=4096"},
      {replacement("data.none", container + ".args.0"), "?$(MODEL) --max-model-len=4096"},
      {map + "vars: [{name: MODEL, objref: {kind: ConfigMap, name: cfg}, fieldref: {fieldpath: "
             "data.model}}]\n",
       "org/m --max-model-len=4096"},
      {map + "vars: [{name: MODEL, objref: {kind: ConfigMap, name: cfg}}]\n",
       "cfg --max-model-len=4096"},
      {"replacements: [{path: patch.yaml}]\nvars: [1]\n", "?$(MODEL) --max-model-len=4096"},
      {"replacements: [x, {source: {}, targets: [y, {select: {}, fieldPaths: [[], '', a.b]}]}]\n",
       "?$(MODEL) --max-model-len=4096"},
  };
  for (const Case& item : cases) {
    INFO(item.overlay);
    CHECK(words_of(overlaid(item.overlay)) == item.words);
  }
}

TEST_CASE("an overlay sets images and counts") {
  const EngineStart start = overlaid(
      "images: [{name: vllm/vllm-openai, newName: mirror/vllm-openai, newTag: v0.9.1}]\n"
      "replicas: [{name: llm, count: 3}]\n");
  CHECK(start.image->view() == "mirror/vllm-openai:v0.9.1");
  CHECK(start.replicas->value == 3);
}

TEST_CASE("an engine of a build stands in the kustomization, its words where they are written") {
  const Files files({{"base/d.yaml", kBase},
                     {"prod/kustomization.yaml", "# prod\nresources: [../base/d.yaml]\n"}});
  const KustomizeBuild build = files.build("prod/kustomization.yaml");
  REQUIRE(build.starts.size() == 1);
  const EngineStart& start = build.starts[0];
  CHECK(start.file->path() == "prod/kustomization.yaml");
  CHECK(start.where.file == start.file);
  CHECK(start.file->position(start.where.range.begin).line == 2);
  CHECK(start.argv[1].text.file()->path() == "base/d.yaml");
  CHECK(build.files == std::vector<std::string>{"base/d.yaml", "prod/kustomization.yaml"});
}

TEST_CASE("components change what was gathered, remote resources are left out") {
  const Files files(
      {{"d.yaml", kBase},
       {"c/kustomization.yaml",
        "kind: Component\npatches:\n- patch: |\n    kind: Deployment\n    metadata: {name: llm}\n"
        "    spec: {replicas: 5}\n"},
       {"kustomization.yaml",
        "resources: [d.yaml, 'https://example.org/x?ref=v1', missing.yaml]\ncomponents: [c]\n"}});
  const KustomizeBuild build = files.build("kustomization.yaml");
  REQUIRE(build.starts.size() == 1);
  CHECK(build.starts[0].replicas->value == 5);
}

TEST_CASE("kustomizations that name each other come to an end") {
  const Files files({{"a/kustomization.yaml", "resources: [../b, ../b]\n"},
                     {"b/kustomization.yaml", "resources: [../a, ../a]\n"}});
  CHECK(files.build("a/kustomization.yaml").starts.empty());
}
