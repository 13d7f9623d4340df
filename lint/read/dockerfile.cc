// Dockerfiles and Containerfiles: what each stage's ENTRYPOINT and CMD start.
//
// Read as the Dockerfile reference (frontend 1.7) says: lines join at a backslash, comment lines
// between them vanish, a stage inherits from the stage it is built from, ENTRYPOINT takes CMD as
// its arguments unless it is a shell command, ARG has its default where the build does not say
// otherwise.
#include <algorithm>
#include <array>
#include <string>

#include "lint/read/container.h"
#include "lint/read/continued_lines.h"
#include "lint/read/readers.h"
#include "lint/read/shell_reader.h"
#include "lint/read/shell_words.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

constexpr std::array<std::string_view, 18> kInstructions = {
    "ADD",        "ARG",         "CMD",     "COPY",       "ENTRYPOINT", "ENV",
    "EXPOSE",     "FROM",        "LABEL",   "MAINTAINER", "RUN",        "SHELL",
    "STOPSIGNAL", "HEALTHCHECK", "ONBUILD", "USER",       "VOLUME",     "WORKDIR"};

bool is_comment(std::string_view line) { return trimmed(line).starts_with('#'); }

/// The words of a line: "FROM", and the rest.
std::string_view first_word(std::string_view line) {
  line = trimmed(line);
  return line.substr(0, std::min(line.find_first_of(" \t"), line.size()));
}

bool is_instruction(std::string_view line) {
  const std::string word = upper(first_word(line));
  return std::find(kInstructions.begin(), kInstructions.end(), word) != kInstructions.end();
}

struct Instruction {
  std::string name;
  SourceText text;  ///< behind the name, continuations joined
};

class Lines {
 public:
  explicit Lines(const SourceFile& file) : file_(file) {}

  /// False at the end. Text that is no instruction is passed over.
  bool next(Instruction& instruction) {
    for (; line_ <= file_.line_count(); ++line_) {
      const std::string_view text = file_.line_text(line_);
      if (is_comment(text) || !is_instruction(text)) continue;
      read(instruction);
      skip_here_documents(instruction.text.view());
      return true;
    }
    return false;
  }

 private:
  void read(Instruction& instruction) {
    const std::string_view first = file_.line_text(line_);
    const std::string_view word = first_word(first);
    instruction.name = upper(word);
    const auto column = static_cast<size_t>(word.data() + word.size() - first.data());
    instruction.text = continued_text(file_, line_, column, {"", "#", false});
  }

  /// `RUN <<EOF`: the lines up to EOF belong to a file or a script of the build.
  void skip_here_documents(std::string_view text) {
    const size_t mark = text.find("<<");
    if (mark == std::string_view::npos) return;
    size_t begin = mark + 2;
    if (begin < text.size() && text[begin] == '-') ++begin;
    const std::string_view quotes = "\"'";
    if (begin < text.size() && quotes.find(text[begin]) != std::string_view::npos) ++begin;
    size_t end = begin;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const std::string delimiter(text.substr(begin, end - begin));
    if (delimiter.empty()) return;
    while (line_ <= file_.line_count() && trimmed(file_.line_text(line_)) != delimiter) ++line_;
    ++line_;
  }

  const SourceFile& file_;
  uint32_t line_ = 1;
};

struct Stage {
  std::string name;
  Word image;
  std::vector<EnvVar> env;
  std::vector<Word> entrypoint, command;
  bool has_entrypoint = false;      ///< set, maybe to nothing
  bool entrypoint_is_text = false;  ///< a shell command: takes no arguments
  bool starts = false;              ///< ENTRYPOINT or CMD stands in this stage
  bool serves = false;
};

/// `["a", "b"]`, or a command for `/bin/sh -c`.
std::vector<Word> read_command(const SourceText& text, bool& is_text) {
  const size_t begin = std::min(text.view().find_first_not_of(" \t"), text.size());
  const SourceText body = text.substr(begin);
  is_text = !body.view().starts_with('[');
  if (is_text) {
    const Word shell{SourceText("/bin/sh"), true};
    return {shell, {SourceText("-c"), true}, {body, true}};
  }
  std::vector<Word> words;
  const Document document = parse_yaml(body);  // JSON is YAML
  if (document.roots.size() != 1) return words;
  for (const NodePtr& item : document.roots.front()->items) {
    if (item->is_scalar()) words.push_back(word_of(*item));
  }
  return words;
}

class DockerfileReader {
 public:
  DockerfileReader(const SourceFile& file, FileContents& out) : file_(file), out_(out) {}

  void read() {
    Lines lines(file_);
    for (Instruction instruction; lines.next(instruction);) apply(instruction);
    finish_stage();
    for (const Stage& stage : stages_) add_starts_of(stage);
  }

 private:
  void apply(const Instruction& instruction) {
    const SourceText& text = instruction.text;
    if (instruction.name == "FROM") return from(text);
    if (instruction.name == "ARG") return arguments(text);
    if (instruction.name == "ENV") return environment(text);
    if (instruction.name == "EXPOSE" || instruction.name == "HEALTHCHECK") stage_.serves = true;
    if (instruction.name == "ENTRYPOINT") {
      stage_.entrypoint = read_command(text, stage_.entrypoint_is_text);
      stage_.has_entrypoint = true;
      stage_.command.clear();
      stage_.starts = true;
    }
    if (instruction.name == "CMD") {
      bool is_text = false;
      stage_.command = read_command(text, is_text);
      stage_.starts = true;
    }
  }

  std::vector<Word> expanded(const SourceText& text) {
    std::vector<Word> words;
    ShellReader reader(text, scope_);
    for (reader.skip_blanks(); !reader.done(); reader.skip_blanks()) {
      const size_t at = reader.position();
      reader.read_word(words);
      if (reader.position() == at) reader.advance();
    }
    return words;
  }

  void from(const SourceText& text) {
    finish_stage();
    std::vector<Word> words = expanded(text);
    std::erase_if(words, [](const Word& word) { return word.text.view().starts_with("--"); });
    stage_ = Stage();
    if (words.empty()) return;
    const auto base = std::find_if(stages_.begin(), stages_.end(), [&](const Stage& stage) {
      return !stage.name.empty() && stage.name == words[0].text.view();
    });
    if (base != stages_.end()) {
      stage_ = *base;
      stage_.starts = false;
      base->starts = false;  // a step on the way
    } else {
      stage_.image = words[0];
    }
    const bool named = words.size() >= 3 && upper(words[1].text.view()) == "AS";
    stage_.name = named ? words[2].text.str() : "";
    for (const EnvVar& variable : stage_.env) scope_.inherit(variable);
  }

  void arguments(const SourceText& text) {
    for (const Word& word : expanded(text)) {
      if (auto variable = as_assignment(word)) {
        scope_.inherit(*variable);
      } else {
        scope_.set_unknown(word.text);
      }
    }
  }

  void environment(const SourceText& text) {
    std::vector<Word> words = expanded(text);
    if (words.empty()) return;
    if (!as_assignment(words.front())) {  // ENV NAME VALUE
      if (words.size() < 2) return;
      return set({words[0].text, words[1].text, words[1].known && words.size() == 2});
    }
    for (const Word& word : words) {
      if (auto variable = as_assignment(word)) set(std::move(*variable));
    }
  }

  void set(EnvVar variable) {
    scope_.inherit(variable);
    std::erase_if(stage_.env,
                  [&](const EnvVar& v) { return v.name.view() == variable.name.view(); });
    stage_.env.push_back(std::move(variable));
  }

  void finish_stage() { stages_.push_back(std::move(stage_)); }

  void add_starts_of(const Stage& stage) {
    if (!stage.starts) return;
    const bool takes_arguments = !stage.has_entrypoint || !stage.entrypoint_is_text;
    Container container;
    container.words = stage.entrypoint;
    container.has_entrypoint = stage.has_entrypoint;
    if (takes_arguments) {
      container.words.insert(container.words.end(), stage.command.begin(), stage.command.end());
    }
    if (container.words.empty()) return;
    EngineStart start;
    start.file = &file_;
    start.kind = "dockerfile";
    start.name = stage.name.empty() ? "image" : "stage " + stage.name;
    start.image = stage.image.text;
    start.image_known = stage.image.known;
    start.env = stage.env;
    start.serves_traffic = stage.serves;
    start.where = container.words.back().text.location();
    add_container_starts(container, start, out_);
  }

  const SourceFile& file_;
  FileContents& out_;
  ShellScope scope_;
  std::vector<Stage> stages_;
  Stage stage_;
};

bool named_so(std::string_view path) {
  const std::string name = upper(path.substr(path.rfind('/') + 1));
  for (const std::string_view word : {"DOCKERFILE", "CONTAINERFILE"}) {
    const size_t at = name.find(word);
    if (at == std::string::npos) continue;
    const auto apart = [&](size_t i) {
      return i >= name.size() || !is_name_start(name[i]) || name[i] == '_';
    };
    if ((at == 0 || apart(at - 1)) && apart(at + word.size())) return true;
  }
  return false;
}

}  // namespace

bool is_dockerfile(const SourceFile& file) {
  if (named_so(file.path())) return true;
  // Another name: the first instruction tells, and all lines up to it must be comments.
  for (uint32_t line = 1; line <= file.line_count(); ++line) {
    const std::string_view text = file.line_text(line);
    if (trimmed(text).empty() || is_comment(text)) continue;
    return text.starts_with("FROM ") || (text.starts_with("ARG ") && !is_yaml_name(file.path()));
  }
  return false;
}

void read_dockerfile(const SourceFile& file, FileContents& out) {
  DockerfileReader(file, out).read();
}

}  // namespace kvbudget
