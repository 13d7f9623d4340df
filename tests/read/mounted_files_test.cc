#include "tests/read/starts.h"
#include "tests/read/word_places.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

/// A pod that runs `command` and mounts the ConfigMap by `mount`; `volume` is what the volume says.
std::string manifest(const std::string& command, const std::string& mount,
                     const std::string& volume = "{name: files}") {
  return "kind: Pod\napiVersion: v1\nspec:\n  containers:\n  - name: engine\n    image: x\n"
         "    env: [{name: TP, value: '2'}]\n    command: " +
         command + "\n    volumeMounts: [" + mount +
         "]\n  volumes: [{name: v, configMap: " + volume +
         "}]\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: files}\ndata:\n"
         "  start.sh: |\n    vllm serve org/m -tp $TP\n  vllm.yaml: |\n    max-model-len: 4096\n"
         "    enforce-eager: true\n";
}

}  // namespace

TEST_CASE("a script that is mounted from a ConfigMap is read as the container runs it") {
  struct Case {
    const char* command;
    const char* mount;
    const char* volume;
    bool found;
  };
  const Case cases[] = {
      {"[bash, /s/start.sh]", "{name: v, mountPath: /s}", "{name: files}", true},
      {"[bash, -c, 'cd /s && ./start.sh']", "{name: v, mountPath: /s}", "{name: files}", true},
      {"[/start.sh]", "{name: v, mountPath: /start.sh, subPath: start.sh}", "{name: files}", true},
      {"[/s/run.sh]", "{name: v, mountPath: /s}",
       "{name: files, items: [{key: start.sh, path: run.sh}]}", true},
      {"[/s/restart.sh]", "{name: v, mountPath: /s}", "{name: files}", false},
      {"[/s/start.sh]", "{name: other, mountPath: /s}", "{name: files}", false},
      {"[/s/start.sh]", "{name: v, mountPath: /s}", "{name: elsewhere}", false},
  };
  for (const Case& item : cases) {
    INFO(item.command << ' ' << item.mount);
    const SourceFile file("f.yaml", manifest(item.command, item.mount, item.volume));
    const FileContents contents = read_file(file);
    REQUIRE(contents.starts.size() == 1);
    // Without an engine, the config file in the ConfigMap counts for itself.
    CHECK((contents.starts[0].kind == "kubernetes") == item.found);
    if (!item.found) continue;
    CHECK(words_of(contents.starts[0]) == "org/m -tp 2");
    CHECK(place_of(contents.starts[0]) == "vllm serve");
    CHECK(misplaced_word(contents.starts[0]) == "");
  }
}

TEST_CASE("settings of a mounted config file belong to the engine that is given the file") {
  const SourceFile file("f.yaml", manifest("[vllm, serve, m, --config, /etc/v/vllm.yaml]",
                                           "{name: v, mountPath: /etc/v/}"));
  const FileContents contents = read_file(file);
  REQUIRE(contents.starts.size() == 1);
  REQUIRE(contents.starts[0].config.size() == 2);
  CHECK(contents.starts[0].config[0].key.view() == "max-model-len");
  CHECK(contents.starts[0].config[0].value->scalar() == "4096");
  const ByteRange place = contents.starts[0].config[0].value->where.range;
  CHECK(file.bytes().substr(place.begin, place.end - place.begin) == "4096");
}
