// What is read in every file of the public corpus, against the corpus's own list of its files.
//
// MANIFEST.tsv was made by searching the texts for model ids and names of flags, so it is right
// about most files and misses what only a reader of the format can know. Each file is a row: how
// many engines were found, whether the model is the listed one, how many of the listed flags were
// found (and no others that stand in the text, both within 5 %), whether each word stands where it
// says. fixtures/readings/manifest_notes.tsv tells what is known to be wrong in the list, with a
// reason each.
#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "lint/resolve_deployment.h"
#include "tests/read/word_places.h"
#include "tests/support/catch.h"
#include "tests/support/shared.h"

using namespace kvbudget;

namespace {

using Names = std::set<std::string>;

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, mark);) parts.push_back(part);
  return parts;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// One name for a flag, its negation and its short form.
std::string plain(std::string name) {
  static const std::map<std::string, std::string> kShort = {{"-tp", "tensor-parallel-size"},
                                                            {"-dp", "data-parallel-size"},
                                                            {"-pp", "pipeline-parallel-size"}};
  if (const auto found = kShort.find(name); found != kShort.end()) name = found->second;
  name = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  name = name.substr(0, name.find_first_of(".="));
  std::replace(name.begin(), name.end(), '_', '-');
  for (const std::string front : {"no-", "enable-", "disable-"}) {
    if (name.starts_with(front)) name = name.substr(front.size());
  }
  return name;
}

struct Listed {
  std::string file;
  std::vector<std::string> models;
  Names flags;
};

std::vector<Listed> manifest() {
  std::ifstream in(test::shared_path("corpus/configs/MANIFEST.tsv"));
  std::vector<Listed> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const std::vector<std::string> columns = split(line, '\t');
    if (columns.size() < 9) continue;
    Listed& row = rows.emplace_back();
    row.file = columns[0];
    if (columns[6] != "-") row.models = split(columns[6], ',');
    for (const std::string& flag : split(columns[8], ' ')) {
      if (flag != "-" && flag != "model") row.flags.insert(plain(flag));
    }
  }
  return rows;
}

/// What the list is known to be wrong about: "file<TAB>part" for each.
std::map<std::string, std::string> notes() {
  std::ifstream in(std::string(KVB_SOURCE_DIR) + "/fixtures/readings/manifest_notes.tsv");
  std::map<std::string, std::string> result;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> columns = split(line, '\t');
    REQUIRE(columns.size() == 3);
    result[columns[0] + "\t" + columns[1]] = columns[2];
  }
  return result;
}

struct Found {
  size_t starts = 0;
  Names models;
  Names flags;
  std::string misplaced;
};

Found read(const std::string& path) {
  DiskFiles disk;
  SourceStore sources(disk);
  const SourceFile* file = sources.open(path, nullptr);
  REQUIRE(file != nullptr);
  Inputs inputs;
  inputs.sources = &sources;
  Found found;
  for (const EngineStart& start : read_file(*file).starts) {
    const Deployment d = resolve_deployment(start, inputs);
    ++found.starts;
    if (!d.model.empty()) found.models.insert(d.model);
    for (const auto& [name, setting] : d.settings.all()) {
      if (setting.origin != Origin::kDefault) found.flags.insert(plain(name));
    }
    for (const WrapperFlag& flag : start.wrapper_flags) found.flags.insert(plain(flag.name));
    for (const UnknownFlag& flag : d.settings.unknown_flags) found.flags.insert(plain(flag.name));
    for (const RefusedWord& word : d.settings.refused_words) found.flags.insert(plain(word.text));
    if (found.misplaced.empty()) found.misplaced = misplaced_word(start);
  }
  return found;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

/// The listed ids that are known without running anything.
Names known_models(const Listed& row) {
  Names result;
  for (std::string id : row.models) {
    id = id.substr(std::min(id.find_first_not_of(' '), id.size()));
    if (id.find_first_of("${") != std::string::npos || id.starts_with("var:")) continue;
    for (const std::string kind : {"path:", "alias:"}) {
      if (id.starts_with(kind)) id = id.substr(kind.size());
    }
    result.insert(lower(id));
  }
  return result;
}

std::string last_part(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

/// One of the models is listed; a path ends with the model's name, an alias is the end of it.
bool models_agree(const Listed& row, const Found& found) {
  const Names listed = known_models(row);
  if (listed.empty()) return true;
  return std::any_of(found.models.begin(), found.models.end(), [&](const std::string& model) {
    return std::any_of(listed.begin(), listed.end(), [&](const std::string& id) {
      return last_part(lower(model)) == last_part(id);
    });
  });
}

/// Flags of `from` that are not in `of`.
Names difference(const Names& from, const Names& of) {
  Names result;
  std::set_difference(from.begin(), from.end(), of.begin(), of.end(),
                      std::inserter(result, result.end()));
  return result;
}

/// Names that stand in the text as flags; keys of charts are not what the list was made of.
Names spelled(const Names& names, const std::string& text) {
  Names result;
  for (const std::string& name : names) {
    if (name == "model") continue;
    std::string other = name;
    std::replace(other.begin(), other.end(), '-', '_');
    for (const std::string front : {"--", "--no-", "--enable-", "--disable-", "--no-enable-"}) {
      const bool stands = text.find(front + name) != std::string::npos ||
                          text.find(front + other) != std::string::npos;
      if (stands) result.insert(name);
    }
  }
  return result;
}

std::string joined(const Names& names) {
  std::string result;
  for (const std::string& name : names) result += " " + name;
  return result;
}

}  // namespace

TEST_CASE("what is read in the corpus is what its list says", "[corpus]") {
  if (!test::shared_exists(test::shared_path("corpus/configs"))) return;
  const std::map<std::string, std::string> known = notes();
  size_t files = 0;
  size_t alike = 0;
  size_t explained = 0;
  Names used;
  for (const Listed& row : manifest()) {
    INFO(row.file);
    const std::string path = test::shared_path("corpus/configs/" + row.file).string();
    const Found found = read(path);
    CHECK(found.misplaced == "");
    const Names missed = difference(row.flags, found.flags);
    const Names more = spelled(difference(found.flags, row.flags), file_text(path));
    const bool starts = found.starts > 0 || row.flags.empty();
    const bool model = models_agree(row, found);
    const bool flags =
        missed.size() * 20 <= row.flags.size() && more.size() * 20 <= row.flags.size();
    bool excused = true;
    for (const auto& [part, right] :
         {std::pair{"starts", starts}, {"model", model}, {"flags", flags}}) {
      if (right) continue;
      const std::string key = row.file + "\t" + part;
      excused = excused && known.contains(key);
      used.insert(key);
    }
    const bool same = starts && model && flags;
    ++files;
    alike += same;
    explained += !same && excused;
    std::cout << "  "
              << (same      ? "    "
                  : excused ? "note"
                            : "MISS")
              << std::setw(4) << found.starts << " starts  model " << (model ? "yes" : "no ")
              << "  flags " << std::setw(2) << row.flags.size() - missed.size() << "/"
              << std::setw(2) << row.flags.size() << "  " << row.file << "\n";
    if (!missed.empty() || !more.empty()) {
      std::cout << "        not found:" << joined(missed) << "; not listed:" << joined(more)
                << "\n";
    }
  }
  std::cout << "  " << alike << " of " << files << " files as listed, " << explained
            << " explained by manifest_notes.tsv: "
            << 100.0 * static_cast<double>(alike + explained) / static_cast<double>(files)
            << " %\n";
  for (const auto& [key, reason] : known) {
    INFO(key << ": a note that no file needs");
    CHECK(used.contains(key));
  }
  CHECK(files == 175);
  CHECK(alike >= 136);
  CHECK(alike + explained == files);
}
