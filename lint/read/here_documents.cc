// A variable that nothing sets stays in the document as `$NAME`, so whatever holds one is not
// known.

#include "lint/read/here_documents.h"

#include <algorithm>
#include <array>

#include "lint/read/config_keys.h"
#include "lint/read/docker_run.h"
#include "lint/read/invocation.h"
#include "lint/read/readers.h"
#include "lint/read/shell_reader.h"
#include "lint/read/shell_words.h"
#include "lint/read/vllm_names.h"

namespace kvbudget {
namespace {

constexpr size_t kMaxDocuments = 200;  // of one script

bool runs_script(std::string_view program) {
  static constexpr std::array<std::string_view, 7> kShells = {"sh",  "bash", "zsh", "dash",
                                                              "ksh", "ssh",  "su"};
  return std::find(kShells.begin(), kShells.end(), base_name(program)) != kShells.end();
}

/// Where `cat > FILE` or `tee FILE` writes.
std::string path_of(const ShellCommand& command) {
  bool tee = false;
  for (const Word& word : command.words) {
    const std::string_view text = word.text.view();
    if (tee && !text.starts_with('-')) return std::string(text);
    tee = tee || base_name(text) == "tee";
  }
  return command.output.empty() ? std::string() : command.output.front().text.str();
}

bool is_script(const ShellCommand& command, const SourceText& text, std::string_view path) {
  const std::string_view first = text.view().substr(0, text.view().find('\n'));
  if (first.starts_with("#!")) return first.find("sh") != std::string_view::npos;
  return path.ends_with(".sh") || runs_script(command.words.front().text.view());
}

void read_script(const SourceFile& file, const SourceText& text, FileContents& out) {
  for (Invocation& invocation : find_invocations_in_script(text, ShellScope())) {
    EngineStart start = start_of(std::move(invocation), "shell", "script");
    start.file = &file;
    out.starts.push_back(std::move(start));
  }
}

FileContents read_yaml_text(const SourceFile& file, const SourceText& text) {
  FileContents out;
  const Document document = parse_yaml(text);
  WorkLimit limit;
  const YamlFile yaml{file, document.roots, limit};
  for (const NodePtr& root : document.roots) read_yaml_document(yaml, *root, out);
  for (EngineStart& start : out.starts) mark_unknown_parts(start);
  return out;
}

/// The word behind `--config`.
std::string_view config_path(const std::vector<Word>& argv) {
  for (size_t i = 0; i < argv.size(); ++i) {
    const std::string_view word = argv[i].text.view();
    if (word.starts_with("--config=")) return word.substr(9);
    if (word == "--config" && i + 1 < argv.size()) return argv[i + 1].text.view();
  }
  return {};
}

}  // namespace

void add_documents(const ShellCommand& command, std::vector<HereDocument>& documents) {
  for (const SourceText& text : command.input) {
    std::string path = path_of(command);
    const bool script = is_script(command, text, path);
    // Through a pipe the last command decides what it is.
    std::erase_if(documents, [&](const HereDocument& document) {
      return document.text.location().range == text.location().range;
    });
    if (documents.size() >= kMaxDocuments) return;
    documents.push_back({text, std::move(path), script});
  }
}

std::vector<HereDocument> here_documents(const SourceText& script) {
  std::vector<HereDocument> documents;
  ShellScope scope;
  read_shell(script, scope,
             [&](const ShellCommand& command, ShellScope&) { add_documents(command, documents); });
  return documents;
}

std::vector<ConfigKey> written_config(const std::vector<HereDocument>& documents,
                                      const std::vector<Word>& argv) {
  std::vector<ConfigKey> keys;
  const std::string_view name = base_name(config_path(argv));
  for (const HereDocument& document : documents) {
    if (name.empty() || name != base_name(document.path)) continue;
    const Document config = parse_yaml(document.text);
    if (config.roots.size() != 1) continue;
    keys.clear();  // written again
    add_keys(*config.roots.front(), keys);
  }
  return keys;
}

void mark_unknown_parts(EngineStart& start) {
  const auto is_whole = [](const SourceText& text) { return !holds_expansion(text.view()); };
  for (Word& word : start.argv) word.known = word.known && is_whole(word.text);
  for (EnvVar& variable : start.env) variable.known = variable.known && is_whole(variable.value);
  for (ConfigKey& key : start.config) key.known = key.known && is_known(*key.value);
  if (start.image) start.image_known = start.image_known && is_whole(*start.image);
}

void add_written_engines(const SourceFile& file, const std::vector<HereDocument>& documents,
                         FileContents& out) {
  const bool starts_itself = !out.starts.empty();
  for (const HereDocument& document : documents) {
    if (document.script) {
      read_script(file, document.text, out);
      continue;
    }
    if (!mentions_vllm(document.text.view())) continue;
    FileContents inner = read_yaml_text(file, document.text);
    for (EngineStart& start : inner.starts) {
      // A config file of an engine that the script starts.
      if (start.kind == "vllm-config" && starts_itself) continue;
      out.starts.push_back(std::move(start));
    }
  }
  std::stable_sort(out.starts.begin(), out.starts.end(),
                   [](const EngineStart& a, const EngineStart& b) {
                     return a.where.range.begin < b.where.range.begin;
                   });
}

}  // namespace kvbudget
