// Recipes of Makefiles and justfiles as the shell gets them: variables of the file are put in, and
// each line is a command of its own. What functions, conditions or the command line decide is not
// known. Sources: GNU make manual 4.4, "Writing Recipes in Rules"; just's manual, 1.40.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "lint/read/container.h"
#include "lint/read/docker_run.h"
#include "lint/read/readers.h"
#include "lint/read/shell_reader.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

bool is_justfile(const SourceFile& file) {
  const std::string name = lower(base_name(file.path()));
  return name == "justfile" || name == ".justfile" || name.ends_with(".just");
}

bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_name_char(c) || c == '-'; });
}

using Variables = std::map<std::string, std::optional<SourceText>, std::less<>>;

class Recipes {
 public:
  Recipes(const SourceFile& file, FileContents& out)
      : file_(file), just_(is_justfile(file)), out_(out) {}

  void read() {
    for (uint32_t line = 1; line <= file_.line_count(); ++line) {
      if (!is_indented(line)) read_variable(line_text(line));
    }
    for (uint32_t line = 1; line <= file_.line_count();) {
      is_indented(line) ? read_command(line) : read_head(line_text(line++));
    }
  }

 private:
  SourceText line_text(uint32_t line) const {
    const uint32_t begin = file_.line_start(line);
    return {file_, {begin, begin + static_cast<uint32_t>(file_.line_text(line).size())}};
  }

  bool is_indented(uint32_t line) const {
    const std::string_view text = file_.line_text(line);
    return text.starts_with('\t') || (just_ && text.starts_with(' '));
  }

  /// `NAME := value`; a variable that is set twice depends on what make sees first.
  void read_variable(const SourceText& line) {
    const std::string_view text = line.view();
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) return;
    const bool adds = equals > 0 && text[equals - 1] == '+';
    std::string_view name = trimmed(text.substr(0, equals), " \t:?+!");
    constexpr std::string_view kExport = "export ";
    const bool exported = name.starts_with(kExport);
    if (exported) name = trimmed(name.substr(kExport.size()));
    if (!is_name(name)) return;
    const bool again = variables_.find(name) != variables_.end();
    std::optional<SourceText> value = plain_value(line, equals + 1);
    if (adds || again) value.reset();
    if (exported) {
      const auto at = static_cast<size_t>(name.data() - text.data());
      exported_.push_back(
          {line.substr(at, name.size()), value.value_or(SourceText()), value.has_value()});
    }
    variables_.insert_or_assign(std::string(name), std::move(value));
  }

  /// A value that stands for itself: just quotes it, make has no functions or variables in it.
  std::optional<SourceText> plain_value(const SourceText& line, size_t from) const {
    const std::string_view all = line.view();
    std::string_view value = trimmed(all.substr(from));
    if (just_) {
      const char quote = value.size() > 1 ? value[0] : '\0';
      const bool one = is_any_of(quote, "\"'") && value.find(quote, 1) == value.size() - 1;
      if (!one || value.find('\\') != std::string_view::npos) return std::nullopt;
      value = value.substr(1, value.size() - 2);
    } else {
      value = trimmed(value.substr(0, value.find(" #")));
      if (value.find_first_of("$`\\") != std::string_view::npos) return std::nullopt;
    }
    return line.substr(static_cast<size_t>(value.data() - all.data()), value.size());
  }

  /// `target: …`; a recipe of just may have parameters, which hide variables of the file.
  void read_head(const SourceText& line) {
    const std::string_view text = line.view();
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.starts_with('#')) return;
    parameters_.clear();
    size_t begin = 0;
    for (size_t i = 0; i <= colon; ++i) {
      if (!is_any_of(text[i], " \t:")) continue;
      if (begin == 0) target_ = std::string(trimmed(text.substr(0, i), "@ "));
      if (begin > 0 && i > begin && just_) read_parameter(line.substr(begin, i - begin));
      begin = i + 1;
    }
  }

  void read_parameter(const SourceText& word) {
    const size_t equals = word.view().find('=');
    const std::string_view name = trimmed(word.view().substr(0, equals), "+*$");
    std::optional<SourceText> value;
    if (equals != std::string_view::npos) value = plain_value(word, equals + 1);
    if (is_name(name)) parameters_.insert_or_assign(std::string(name), std::move(value));
  }

  /// One logical line; `line` ends up behind it.
  void read_command(uint32_t& line) {
    SourceText text;
    for (bool more = true; more && line <= file_.line_count(); ++line) {
      const SourceText part = line_text(line);
      if (part.empty()) break;
      if (!text.empty()) text.append_synthetic("\n", part.offset(0));
      text.empty() ? void(text = part) : text.append(part);
      more = part.view().ends_with('\\');
    }
    const size_t first = text.view().find_first_not_of(" \t@-+");
    if (first == std::string_view::npos) return;
    EngineStart base;
    base.file = &file_;
    base.kind = just_ ? "justfile" : "makefile";
    base.name = "recipe " + target_;
    base.where = text.location();
    base.env = exported_;
    add_script_starts(expanded(text.substr(first)), ShellScope(), base, out_);
  }

  const SourceText* value_of(std::string_view name) const {
    const auto parameter = parameters_.find(name);
    const auto variable = variables_.find(name);
    if (parameter != parameters_.end()) return parameter->second ? &*parameter->second : nullptr;
    return variable != variables_.end() && variable->second ? &*variable->second : nullptr;
  }

  /// With the values of variables in their places; what is not known stays a variable.
  SourceText expanded(const SourceText& text) const {
    SourceText result = text.substr(0, 0);
    for (size_t i = 0; i < text.size();) {
      if (!just_ && text[i] == '$' && i + 1 < text.size() && text[i + 1] == '$') {
        result.append('$', text.offset(i));
        i += 2;
      } else if (const size_t end = reference_end(text.view(), i); end > i) {
        const std::string_view inner = text.view().substr(i + 2, end - i - (just_ ? 4 : 3));
        const SourceText* value = value_of(trimmed(inner));
        if (value != nullptr) {
          result.append(*value);
        } else {
          result.append_synthetic("${", text.offset(i));
          result.append(text.substr(i + 2, inner.size()));
          result.append_synthetic("}", text.offset(i));
        }
        i = end;
      } else {
        result.append(text[i], text.offset(i));
        ++i;
      }
    }
    return result;
  }

  /// Behind `$(NAME)`, `${NAME}` or just's `{{NAME}}` at `i`; `i` when there is none.
  size_t reference_end(std::string_view text, size_t i) const {
    const std::string_view open = text.substr(i, 2);
    const bool opens = just_ ? open == "{{" : open == "$(" || open == "${";
    if (!opens) return i;
    const std::string_view close = just_ ? "}}" : open == "$(" ? ")" : "}";
    const size_t end = text.find(close, i);
    if (end == std::string_view::npos || !is_name(trimmed(text.substr(i + 2, end - i - 2))))
      return i;
    return end + close.size();
  }

  const SourceFile& file_;
  bool just_;
  FileContents& out_;
  Variables variables_;
  Variables parameters_;
  std::vector<EnvVar> exported_;
  std::string target_;
};

}  // namespace

bool is_makefile(const SourceFile& file) {
  const std::string_view name = base_name(file.path());
  return name == "Makefile" || name == "makefile" || name == "GNUmakefile" ||
         name.ends_with(".mk") || is_justfile(file);
}

void read_makefile(const SourceFile& file, FileContents& out) { Recipes(file, out).read(); }

}  // namespace kvbudget
