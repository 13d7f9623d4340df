// systemd services and Podman Quadlets: what ExecStart= runs, with the variables of Environment=.
//
// systemd.service(5), systemd.exec(5), systemd.unit(5) and podman-systemd.unit(5), version 252 and
// 4.4: lines join at a backslash, `%i` and the like are filled in when the unit is loaded, an empty
// ExecStart= takes back what stood before, `$NAME` and `${NAME}` come from the environment.
#include <algorithm>
#include <string>

#include "lint/read/container.h"
#include "lint/read/continued_lines.h"
#include "lint/read/readers.h"
#include "lint/read/shell_words.h"
#include "lint/read/text.h"
#include "lint/read/yaml_template.h"

namespace kvbudget {
namespace {

struct Setting {
  std::string section;
  std::string key;
  SourceText value;
};

/// "-/usr/bin/vllm": signs in front of the program say how failures count.
SourceText without_signs(const SourceText& text) {
  const size_t begin = text.view().find_first_not_of("@-:+!");
  return text.substr(std::min(begin, text.size()));
}

class UnitReader {
 public:
  UnitReader(const SourceFile& file, FileContents& out) : file_(file), out_(out) {}

  void read() {
    while (line_ <= file_.line_count()) read_line();
    if (!image_.text.empty()) return add_quadlet();
    for (const SourceText& command : commands_) {
      EngineStart start = base();
      start.where = command.location();
      add_script_starts(command, ShellScope(), start, out_);
    }
  }

 private:
  void read_line() {
    const std::string_view text = trimmed(file_.line_text(line_));
    if (text.empty() || text.front() == '#' || text.front() == ';') {
      ++line_;
      return;
    }
    if (text.front() == '[' && text.back() == ']') {
      section_ = std::string(text.substr(1, text.size() - 2));
      ++line_;
      return;
    }
    const std::string_view whole = file_.line_text(line_);
    const size_t equals = whole.find('=');
    const size_t key_at = static_cast<size_t>(text.data() - whole.data());
    if (equals == std::string_view::npos) {
      ++line_;
      return;
    }
    Setting setting{section_, std::string(trimmed(whole.substr(key_at, equals - key_at))), {}};
    setting.value = continued_text(file_, line_, equals + 1, {" ", "#;", true});
    apply(setting);
  }

  void apply(const Setting& setting) {
    if (setting.section == "Service" && setting.key == "ExecStart") {
      if (setting.value.empty()) commands_.clear();
      if (!setting.value.empty()) commands_.push_back(without_signs(setting.value));
    } else if (setting.key == "Environment") {
      add_environment(setting.value);
    } else if (setting.section == "Container" && setting.key == "Image") {
      image_ = {setting.value, setting.value.view().find('%') == std::string_view::npos};
    } else if (setting.section == "Container" && setting.key == "Exec") {
      exec_ = setting.value;
    } else if (setting.section == "Container" && setting.key == "Entrypoint") {
      entrypoint_ = setting.value;
    } else if (setting.section == "Container" && setting.key == "PublishPort") {
      serves_ = true;
    }
  }

  void add_environment(const SourceText& value) {
    for (const Word& word : split_words({value, true})) {
      auto variable = as_assignment(word);
      if (!variable) continue;
      const std::string_view text = variable->value.view();
      variable->known = text.find('%') == std::string_view::npos && !has_template_action(text);
      std::erase_if(env_, [&](const EnvVar& v) { return v.name.view() == variable->name.view(); });
      env_.push_back(std::move(*variable));
    }
  }

  EngineStart base() const {
    EngineStart start;
    start.file = &file_;
    start.kind = "systemd";
    start.name = "service";
    start.env = env_;
    start.serves_traffic = true;
    return start;
  }

  void add_quadlet() {
    EngineStart start = base();
    start.where = image_.text.location();
    start.serves_traffic = serves_;
    start.image = image_.text;
    start.image_known = image_.known;
    Container container;
    container.has_entrypoint = !entrypoint_.empty();
    for (const SourceText* text : {&entrypoint_, &exec_}) {
      if (text->empty()) continue;
      const std::vector<Word> words = split_words({*text, true});
      container.words.insert(container.words.end(), words.begin(), words.end());
    }
    add_container_starts(container, start, out_);
  }

  const SourceFile& file_;
  FileContents& out_;
  uint32_t line_ = 1;
  std::string section_;
  std::vector<SourceText> commands_;
  std::vector<EnvVar> env_;
  Word image_;
  SourceText exec_, entrypoint_;
  bool serves_ = false;
};

}  // namespace

bool is_systemd_unit(const SourceFile& file) {
  const std::string_view bytes = file.bytes();
  const auto has_line = [&](std::string_view text) {
    const size_t at = bytes.find(text);
    return at == 0 || (at != std::string_view::npos && bytes[at - 1] == '\n');
  };
  if (has_line("[Service]")) return bytes.find("ExecStart") != std::string_view::npos;
  return has_line("[Container]") && has_line("Image=");
}

void read_systemd_unit(const SourceFile& file, FileContents& out) { UnitReader(file, out).read(); }

}  // namespace kvbudget
