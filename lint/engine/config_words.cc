#include "lint/engine/config_words.h"

#include <algorithm>
#include <array>

#include "lint/engine/flags.h"
#include "lint/engine/json_text.h"
#include "lint/read/text.h"

namespace kvbudget {
namespace {

enum class YamlBool { kNone, kTrue, kFalse };

// YAML 1.1, which PyYAML reads: yes and on are true.
YamlBool yaml_bool(const Node& node) {
  static constexpr std::array<std::string_view, 9> kTrue = {"true", "True", "TRUE", "yes", "Yes",
                                                            "YES",  "on",   "On",   "ON"};
  static constexpr std::array<std::string_view, 9> kFalse = {"false", "False", "FALSE", "no", "No",
                                                             "NO",    "off",   "Off",   "OFF"};
  if (!node.is_scalar() || node.style != Node::Style::kPlain) return YamlBool::kNone;
  const std::string_view text = node.scalar();
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return YamlBool::kTrue;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return YamlBool::kFalse;
  return YamlBool::kNone;
}

// Under `vllm serve` a false key is dropped without a word, in every release.
bool drops_false(Version version, bool serve) { return serve || version < Version{0, 28, 0}; }

class Writer {
 public:
  Writer(Version version, bool serve) : version_(version), serve_(serve) {}

  void write(const ConfigKey& key) {
    key_ = key.key.location();
    const std::string option = "--" + key.key.str();
    const Node& node = *key.value;
    if (const YamlBool value = yaml_bool(node); value != YamlBool::kNone) {
      write_bool(key.key.str(), value == YamlBool::kTrue, node.where);
    } else if (node.kind == Node::Kind::kNull) {
      add(option, key_);
      add("None", key_);
    } else if (node.is_sequence() && version_ >= Version{0, 10, 2}) {
      write_list(option, node);
    } else {
      add(option, key_);
      write_value(node);
    }
  }

  void write_argument(const ConfigKey& key) {
    key_ = key.key.location();
    std::string name = with_dashes(key.key.view());
    const Node& node = *key.value;
    const Flag* const flag = find_flag(name);
    const FlagKind kind = flag == nullptr ? FlagKind{} : flag_kind(*flag, version_);
    if (node.kind == Node::Kind::kNull) return;
    if (kind.is_switch() && !key.known) {  // it may be there or not
      add("--" + name, key_, node.where);
    } else if (const YamlBool value = yaml_bool(node);
               value != YamlBool::kNone && kind.is_switch()) {
      const bool on = value == YamlBool::kTrue;
      if (on || kind.form == FlagForm::kTwoWay) add((on ? "--" : "--no-") + name, key_, node.where);
    } else if (node.is_sequence() && !kind.is_json()) {
      write_list("--" + name, node);
    } else {
      add("--" + name, key_);
      node.is_scalar() ? write_value(node) : add(json_of(node), node.where);
    }
    if (!words.empty()) words.back().known = words.back().known && key.known;
  }

  std::vector<ParserWord> words;

 private:
  void add(std::string text, Location where, Location value = {}) {
    words.push_back({SourceText(std::move(text)), where, true, Origin::kConfigFile, value});
  }

  void write_bool(const std::string& key, bool on, Location value) {
    if (on) add("--" + key, key_, value);
    if (on && version_ < Version{0, 6, 4}) add("True", key_);
    if (!on && !drops_false(version_, serve_)) add("--no-" + key, key_, value);
  }

  void write_list(const std::string& option, const Node& list) {
    if (list.items.empty()) return;
    add(option, key_);
    for (const NodePtr& item : list.items) write_value(*item);
  }

  void write_value(const Node& node) {
    if (!node.is_scalar()) {
      const bool as_json = version_ >= Version{0, 16, 0};
      add(as_json ? json_of(node) : python_of(node), node.where);
      return;
    }
    // Template text in a file that something renders first.
    const bool known = node.scalar().find("{{") == std::string_view::npos;
    words.push_back({node.text, node.where, known, Origin::kConfigFile, {}});
  }

  Version version_;
  bool serve_;
  Location key_;
};

}  // namespace

std::vector<ParserWord> words_of_command(std::span<const Word> argv) {
  std::vector<ParserWord> words;
  words.reserve(argv.size());
  for (const Word& word : argv) {
    words.push_back({word.text, word.text.location(), word.known, Origin::kFlag, {}});
  }
  return words;
}

std::vector<ParserWord> words_of_config(std::span<const ConfigKey> keys, Version version,
                                        bool serve) {
  Writer writer(version, serve);
  for (const ConfigKey& key : keys) {
    const size_t before = writer.words.size();
    writer.write(key);
    for (size_t i = before; i < writer.words.size(); ++i) {
      writer.words[i].known = writer.words[i].known && key.known;
    }
  }
  return std::move(writer.words);
}

std::vector<DroppedKey> dropped_keys(std::span<const ConfigKey> keys, Version version, bool serve) {
  std::vector<DroppedKey> dropped;
  if (!drops_false(version, serve)) return dropped;
  for (const ConfigKey& key : keys) {
    if (yaml_bool(*key.value) != YamlBool::kFalse) continue;
    dropped.push_back({key.key.str(), key.key.location(), key.value->where});
  }
  return dropped;
}

std::vector<ParserWord> words_of_arguments(std::span<const ConfigKey> keys, Version version) {
  Writer writer(version, /*serve=*/false);
  for (const ConfigKey& key : keys) writer.write_argument(key);
  return std::move(writer.words);
}

}  // namespace kvbudget
