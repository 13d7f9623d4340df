// What `inspect` says of real deployment files, against what a person read in them before the
// readers were written.
//
// fixtures/readings/starts.jsonl has one line per file of the public corpus: its engine starts with
// model, version, image, GPUs, replicas, nodes, flags and environment, each value with its place
// (flag: [value, line, column]; null where the file does not tell). Every one of these facts counts
// once. KVB_READINGS=1 prints each that is missed.
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "lint/report/json.h"
#include "lint/resolve_deployment.h"
#include "tests/support/catch.h"
#include "tests/support/shared.h"

using namespace kvbudget;
using nlohmann::json;

namespace {

struct Score {
  int facts = 0;
  int right = 0;
  int files = 0;
  int whole = 0;  ///< files of which every fact is right
};

class Reading {
 public:
  explicit Reading(const json& line) : line_(line) {}

  Score score() {
    DiskFiles disk;
    SourceStore sources(disk);
    const auto path = test::shared_path("corpus/configs/" + line_["file"].get<std::string>());
    const SourceFile* file = sources.open(path.string(), nullptr);
    REQUIRE(file != nullptr);
    Inputs inputs;
    inputs.sources = &sources;
    std::vector<Deployment> found;
    for (const EngineStart& start : read_file(*file).starts) {
      found.push_back(resolve_deployment(start, inputs));
    }
    const json& starts = line_["starts"];
    fact("starts", found.size(), starts.size());
    for (size_t i = 0; i < starts.size(); ++i) {
      i < found.size() ? compare(found[i], starts[i]) : miss_all(starts[i]);
    }
    score_.files = 1;
    score_.whole = score_.facts == score_.right;
    return score_;
  }

  std::string misses() const { return misses_.str(); }

 private:
  void fact(const std::string& name, const json& ours, const json& wanted) {
    ++score_.facts;
    score_.right += ours == wanted;
    if (ours != wanted) {
      misses_ << "    " << name << ": " << ours.dump() << ", expected " << wanted.dump() << "\n";
    }
  }

  void miss_all(const json& wanted) {
    for (const char* key : {"line", "model", "version", "image", "gpu", "replicas", "nodes"}) {
      fact(key, "(no start)", wanted[key]);
    }
    for (const char* key : {"flags", "env"}) {
      for (const auto& [name, value] : wanted[key].items()) fact(name, "(no start)", value);
    }
  }

  void compare(const Deployment& d, const json& wanted) {
    const json ours = json::parse(deployment_json(d).dump());
    const std::string at = "line " + wanted["line"].dump() + " ";
    fact(at + "line", ours["line"], wanted["line"]);
    fact(at + "model", ours["model"], wanted["model"]);
    // Post-releases share flags, defaults and memory with the release.
    json version = wanted["version"];
    if (version.is_string())
      version = version.get<std::string>().substr(0, version.get<std::string>().find(".post"));
    fact(at + "version", ours["engine"]["version"], version);
    // The text of an image whose tag is not known may be shown or not.
    const json image = ours["engine"]["image"];
    fact(at + "image", d.start.image_known || image == wanted["image"] ? image : json(),
         wanted["image"]);
    fact(at + "replicas", ours["replicas"], wanted["replicas"]);
    fact(at + "nodes", ours["nodes"], wanted["nodes"]);
    for (const char* key : {"name", "count"}) {
      const json gpu = ours["gpu"].is_null() ? json() : ours["gpu"][key];
      const json expected = wanted["gpu"].is_null() ? json() : wanted["gpu"][key];
      fact(at + "gpu " + key, gpu, expected);
    }
    compare_flags(d, ours, wanted["flags"], at);
    compare_env(d, wanted["env"], at);
  }

  void compare_flags(const Deployment& d, const json& ours, const json& wanted,
                     const std::string& at) {
    std::set<std::string> met;
    for (const auto& [name, value] : wanted.items()) {
      const std::string meant = meaning(d, ours, name, value);
      if (!meant.empty()) met.insert(meant);
      const json found = ours["settings"].value(name, json());
      const bool given = !found.is_null() && found["origin"] != "default";
      fact(at + name,
           !meant.empty() ? value
           : given        ? json{shown(found["value"], value[0]), found["line"], found["column"]}
                          : json("(missing)"),
           value);
    }
    for (const auto& [name, setting] : ours["settings"].items()) {
      if (setting["origin"] == "default" || wanted.contains(name) || met.contains(name)) continue;
      fact(at + name, json{setting["value"], setting["line"], setting["column"]}, "(nothing)");
    }
  }

  /// The file's words are the reader's; what the release makes of them is the engine's: a flag that
  /// it does not have, or not in this form, is listed as such, and the negative form of a switch
  /// has the switch's name. Gives the name under which the flag is met, empty when it is met by its
  /// own.
  static std::string meaning(const Deployment& d, const json& ours, const std::string& name,
                             const json& value) {
    if (name.starts_with("disable-") && value[0] == "true") {
      const std::string positive = "enable-" + name.substr(8);
      const json found = ours["settings"].value(positive, json());
      if (!found.is_null() && found["value"] == "false" && found["line"] == value[1]) {
        return positive;
      }
    }
    for (const UnknownFlag& flag : d.settings.unknown_flags) {
      if (flag.name == name && near(flag.where, value)) return name;
    }
    for (const RefusedWord& word : d.settings.refused_words) {
      if (near(word.where, value)) return name;
    }
    return "";
  }

  /// Reports keep secrets back.
  static json shown(const json& ours, const json& wanted) {
    return ours == "(hidden)" && wanted.is_string() ? wanted : ours;
  }

  static bool near(const Location& where, const json& value) {
    return where && where.file->position(where.range.begin).line <= value[1] &&
           value[1] <= where.file->position(where.range.begin).line + 1;
  }

  void compare_env(const Deployment& d, const json& wanted, const std::string& at) {
    for (const auto& [name, value] : wanted.items()) {
      const EnvVar* found = d.env(name);
      json ours = "(missing)";
      if (found != nullptr) {
        const Location where = found->known ? found->value.location() : found->name.location();
        const Position place = where.file->position(where.range.begin);
        ours = {found->known ? json(found->value.str()) : json(), place.line, place.column};
      }
      // The place of a value that is not known may be its name or its reference.
      if (value[0].is_null() && found != nullptr && !found->known) ours = value;
      fact(at + name, ours, value);
    }
  }

  const json& line_;
  Score score_;
  std::ostringstream misses_;
};

}  // namespace

TEST_CASE("inspect says what a reader finds in real files", "[corpus]") {
  if (!test::shared_exists(test::shared_path("corpus/configs"))) return;
  std::ifstream lines(std::string(KVB_SOURCE_DIR) + "/fixtures/readings/starts.jsonl");
  std::map<std::string, Score> table;
  Score all;
  for (std::string text; std::getline(lines, text);) {
    const json line = json::parse(text);
    Reading reading(line);
    const Score score = reading.score();
    for (Score* row : {&table[line["format"]], &all}) {
      row->facts += score.facts;
      row->right += score.right;
      row->files += 1;
      row->whole += score.whole;
    }
    if (std::getenv("KVB_READINGS") != nullptr && score.whole == 0) {
      std::cout << line["file"].get<std::string>() << "\n" << reading.misses();
    }
  }
  table["all"] = all;
  for (const auto& [format, row] : table) {
    std::cout << "  " << std::left << std::setw(16) << format << std::right << std::setw(4)
              << row.whole << " of " << std::setw(2) << row.files << " files whole, "
              << std::setw(4) << row.right << " of " << std::setw(4) << row.facts << " facts\n";
  }
  CHECK(all.files == 60);
  CHECK(all.right * 100 >= all.facts * 99);
}
