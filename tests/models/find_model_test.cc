#include <unistd.h>

#include <filesystem>

#include "lint/memory/weights.h"
#include "lint/models/catalogue.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"
#include "tests/support/memory_files.h"

using namespace kvbudget;
namespace fs = std::filesystem;

namespace {

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("kvb-models-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string str(const std::string& below = "") const { return (path_ / below).string(); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }

 private:
  fs::path path_;
};

std::string config_of(const ModelSources& sources, std::string_view model,
                      std::string_view base = "") {
  const FindResult found = find_model(sources, model, base);
  return found.files ? found.files->config : "error: " + found.error;
}

}  // namespace

TEST_CASE("a folder of models may be nested, flat or a hub cache") {
  const Folder folder;
  folder.write("a/nested/config.json", "{1}");
  folder.write("b__flat.json", "{2}");
  folder.write("models--c--cached/refs/main", "abc123\n");
  folder.write("models--c--cached/snapshots/000000/config.json", "{old}");
  folder.write("models--c--cached/snapshots/abc123/config.json", "{3}");
  ModelSources sources;
  sources.folders = {folder.str()};
  CHECK(config_of(sources, "a/nested") == "{1}");
  CHECK(config_of(sources, "A/Nested") == "{1}");
  CHECK(config_of(sources, "b/flat") == "{2}");
  CHECK(config_of(sources, "c/cached") == "{3}");
  sources.folders.clear();
  sources.hub_cache = folder.str();
  CHECK(config_of(sources, "c/cached") == "{3}");
}

TEST_CASE("what lies beside a config comes along") {
  const Folder folder;
  folder.write("m/config.json", "{}");
  folder.write("m/model.safetensors.index.json", "index");
  folder.write("m/hf_quant_config.json", "quant");
  folder.write("m/tokenizer_config.json", "tokenizer");
  folder.write("o__n.json", "{}");
  folder.write("o__n.hf_quant_config.json", "flat quant");
  ModelSources sources;
  sources.folders = {folder.str()};
  const FindResult nested = find_model(sources, folder.str("m"), "");
  REQUIRE(nested.files.has_value());
  CHECK(nested.files->safetensors_index == "index");
  CHECK(nested.files->quant_config == "quant");
  CHECK(nested.files->tokenizer_config == "tokenizer");
  const FindResult flat = find_model(sources, "o/n", "");
  REQUIRE(flat.files.has_value());
  CHECK(flat.files->quant_config == "flat quant");
}

TEST_CASE("a config given by hand wins, for its model or for every model") {
  const Folder folder;
  folder.write("mine.json", "{mine}");
  folder.write("all/config.json", "{all}");
  ModelSources sources;
  sources.configs = {{"org/name", folder.str("mine.json")}, {"", folder.str("all")}};
  CHECK(config_of(sources, "org/name") == "{mine}");
  CHECK(config_of(sources, "meta-llama/Llama-3.1-8B") == "{all}");
}

TEST_CASE("a given config that cannot be read is an error with the reason") {
  const Folder folder;
  ModelSources sources;
  sources.configs = {{"", folder.str("missing.json")}};
  CHECK(config_of(sources, "x/y").find("missing.json: no such file") != std::string::npos);
  sources.configs = {{"", "/dev/zero"}};
  CHECK(config_of(sources, "x/y").find("not a regular file") != std::string::npos);
  folder.write("big.json", std::string(17 << 20, ' '));
  sources.configs = {{"", folder.str("big.json")}};
  CHECK(config_of(sources, "x/y").find("larger than 16 MiB") != std::string::npos);
}

TEST_CASE("a model may be a path, also below the folder of the file that names it") {
  const Folder folder;
  folder.write("deploy/weights/config.json", "{here}");
  CHECK(config_of({}, folder.str("deploy/weights")) == "{here}");
  CHECK(config_of({}, "./weights", folder.str("deploy")) == "{here}");
  CHECK(config_of({}, "weights", folder.str("deploy")) == "{here}");
}

TEST_CASE("a model's name cannot leave the folder of models") {
  const Folder folder;
  folder.write("models/keep", "");
  folder.write("outside/config.json", "{secret}");
  ModelSources sources;
  sources.folders = {folder.str("models")};
  CHECK(config_of(sources, "../outside").substr(0, 6) == "error:");
  CHECK(config_of(sources, "a/../../outside").substr(0, 6) == "error:");
  CHECK(config_of(sources, "").substr(0, 6) == "error:");
  CHECK(config_of(sources, std::string("a\0b", 3)).substr(0, 6) == "error:");
}

TEST_CASE("the fixtures' models are found, and the index says what the shape says") {
  ModelSources sources;
  sources.folders = {std::string(KVB_SOURCE_DIR) + "/fixtures/models"};
  const FindResult dense = find_model(sources, "acme/tiny-dense", "");
  REQUIRE(dense.files.has_value());
  const ShapeResult result = read_shape(*dense.files);
  INFO(result.error);
  REQUIRE(result.shape != nullptr);
  CHECK(result.shape->checkpoint_bytes == 2 * memory::parameter_count(*result.shape));
  CHECK(read_shape(*find_model(sources, "acme/tiny-experts", "").files).shape != nullptr);
}

TEST_CASE("models are looked for in the files that the sources name") {
  const MemoryFiles files({{"models/org/name/config.json", "{of the revision}"},
                           {"deploy/own/config.json", "{local}"}});
  ModelSources sources;
  sources.folders = {"models"};
  sources.files = &files;
  CHECK(config_of(sources, "org/Name") == "{of the revision}");
  CHECK(config_of(sources, "own", "deploy") == "{local}");
}
