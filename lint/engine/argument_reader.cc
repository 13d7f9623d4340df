#include "lint/engine/argument_reader.h"

#include <algorithm>
#include <utility>

#include "lint/read/text.h"

namespace kvbudget {
namespace {

constexpr Version kUnderscores{0, 5, 1};
constexpr Version kServeModelFlag{0, 8, 3};
constexpr Version kDottedKeys{0, 9, 0};
constexpr Version kDottedNumbersFail{0, 9, 2};
constexpr Version kModeInsteadOfLevel{0, 11, 1};
constexpr Version kServeModelMoves{0, 11, 1};
constexpr Version kOptimizationLevel{0, 12, 0};
constexpr Version kLevelTakesNoKeys{0, 13, 0};
constexpr Version kServedNameCheck{0, 17, 0};
constexpr Version kHumanNumbersInJson{0, 20, 0};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '+';
}

// `-1` and `-0.5` are values: no option of vLLM looks like a number.
bool is_negative_number(std::string_view text) {
  return text.find_first_not_of("0123456789.", 1) == std::string_view::npos;
}

// "--name", "-n" or "--name=…". A blank in the name makes it a value, and a name that a template is
// part of can be anything.
bool is_option(const ParserWord& word) {
  const std::string_view text = word.text.view();
  if (text.size() < 2 || text[0] != '-' || text == "--" || is_negative_number(text)) return false;
  const std::string_view name = text.substr(0, text.find('='));
  if (word.known) return name.find(' ') == std::string_view::npos;
  return std::all_of(name.begin(), name.end(), is_name_char);
}

// A shell variable of this kind holds flags, not the model.
bool names_arguments(std::string_view text) {
  const std::string name = upper(text);
  for (const std::string_view hint : {"ARG", "FLAG", "OPT", "EXTRA"}) {
    if (name.find(hint) != std::string::npos) return true;
  }
  return false;
}

// Jinja's statements, whose words are split like all others.
bool is_template_mark(std::string_view text) {
  return text.starts_with("{%") || text.ends_with("%}");
}

bool is_truth_value(std::string_view text) {
  for (const std::string_view word : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (text == word) return true;
  }
  return false;
}

// Keys of a config file have no dashes.
std::string as_written(const ParserWord& word) {
  const std::string& text = word.text.str();
  const bool key = word.origin == Origin::kConfigFile && text.starts_with("--");
  return key ? text.substr(2) : text;
}

// Not known although nothing in it is to be filled in.
bool may_be_missing(const ParserWord& word) {
  const std::string_view text = word.text.view();
  return !word.known && text.find_first_of("$`") == text.npos && text.find("{{") == text.npos;
}

ParserWord part_of(const ParserWord& word, size_t begin) {
  const SourceText text = word.text.substr(begin);
  return {text, text.file() ? text.location() : word.where, word.known, word.origin, {}};
}

}  // namespace

ArgumentReader::ArgumentReader(Settings& settings, bool serve)
    : settings_(settings),
      version_(settings.version),
      serve_(serve),
      options_(version_, serve, settings.use) {}

void ArgumentReader::read(const std::vector<ParserWord>& words, bool takes_model) {
  words_ = &words;
  takes_model_ = takes_model;
  next_ = 0;
  while (next_ < words.size()) read_word(words[next_++]);
}

void ArgumentReader::finish() {
  for (auto& [name, folded] : folded_) {
    folded.setting.value = fold_dotted(folded.values, version_ >= kHumanNumbersInJson);
    settings_.replace(name, folded.setting);
  }
  check_model_places();
  choose_model();
  // What only run time knows may be a flag that takes them.
  if (settings_.opaque_words) {
    std::erase_if(settings_.refused_words,
                  [](const RefusedWord& word) { return word.kind == Refusal::kStrayWord; });
  }
}

void ArgumentReader::choose_model() {
  if (positional_) {
    settings_.model = {positional_->text.str(), positional_->where};
    settings_.model_known = positional_->known;
  } else if (const Setting* const model = settings_.find("model")) {
    settings_.model = {model->value, model->where};
    settings_.model_known = model->known;
  } else {
    settings_.model_known = !settings_.opaque_words;
  }
  settings_.unset("model");
}

void ArgumentReader::check_model_places() {
  if (!serve_) return;
  const Setting* const model = settings_.find("model");
  const bool flag = model && model->origin == Origin::kFlag;
  if (positional_ && flag && version_ >= kServeModelMoves) {
    refuse(*positional_, Refusal::kOther, "the model is given twice");
  }
  const Setting* const names = settings_.find("served-model-name");
  if (!positional_ && !model && names && names->origin == Origin::kFlag &&
      version_ >= kServedNameCheck && !settings_.has("config") && !settings_.opaque_words) {
    settings_.refused_words.push_back({.text = "--served-model-name",
                                       .where = names->key,
                                       .problem =
                                           "the first word behind `vllm serve` is a flag, so "
                                           "--served-model-name takes the model for a name"});
  }
}

ArgumentReader::Name ArgumentReader::name_of(const ParserWord& word) const {
  const std::string& text = word.text.str();
  const size_t equals = text.find('=');
  Name name{text.substr(0, equals), equals == std::string::npos ? equals : equals + 1};
  if (!name.text.starts_with("--") || version_ < kUnderscores) return name;
  const size_t dot = version_ >= kDottedKeys ? name.text.find('.') : std::string::npos;
  const auto end = name.text.begin() + static_cast<std::ptrdiff_t>(std::min(dot, name.text.size()));
  std::replace(name.text.begin(), end, '_', '-');
  return name;
}

bool ArgumentReader::next_is_value() const {
  return next_ < words_->size() && !is_option((*words_)[next_]);
}

void ArgumentReader::read_word(const ParserWord& word) {
  if (!is_option(word)) {
    read_positional(word);
    return;
  }
  const Name name = name_of(word);
  if (read_level(word, name) || read_dotted(word, name)) return;
  if (const Option* const option = resolve(word, name)) read_option(word, name, *option);
}

void ArgumentReader::read_positional(const ParserWord& word) {
  const std::string_view text = word.text.view();
  const bool may_be_model = takes_model_ && serve_ && !positional_ && !text.starts_with('-');
  if (word.known && (text.empty() || text == "--")) return;
  if (may_be_model && (word.known || !names_arguments(text))) {
    positional_ = word;
  } else if (!word.known || is_template_mark(text)) {
    settings_.opaque_words = true;
  } else if (text.starts_with('-')) {
    refuse(word, Refusal::kJoinedWords, "one word holds a flag and its value");
  } else {
    refuse(word, Refusal::kStrayWord, "no flag takes this word");
  }
}

// An exact name wins over abbreviations; an abbreviation must fit one option only. The full name of
// another release's flag (--device) is not taken for one: whoever wrote it
// meant that flag, and the value would not fit.
const Option* ArgumentReader::resolve(const ParserWord& word, const Name& name) {
  if (const Option* const exact = options_.find(name.text)) return exact;
  const size_t dashes = std::min(name.text.find_first_not_of('-'), name.text.size());
  const std::string bare = with_dashes(std::string_view(name.text).substr(dashes));
  const bool known_elsewhere = find_flag(bare) != nullptr;
  const std::span<const Option> fitting = options_.with_prefix(name.text);
  if (fitting.size() == 1 && !known_elsewhere) return &fitting.front();
  if (const Option* const glued = glued_option(name); glued && fitting.empty()) return glued;
  const bool ambiguous = fitting.size() > 1 && !known_elsewhere;
  settings_.unknown_flags.push_back({std::move(bare), as_written(word), word.where, ambiguous,
                                     !may_be_missing(word), skip_values_of_unknown(word, name)});
  return nullptr;
}

// One-letter options take their value without a space: -n4.
const Option* ArgumentReader::glued_option(const Name& name) const {
  if (name.text.starts_with("--") || name.value_at != std::string::npos) return nullptr;
  const Option* const option = options_.find(name.text.substr(0, 2));
  return option && !flag_kind(*option->flag, version_).is_switch() ? option : nullptr;
}

// What would have been the value must not become the model.
std::vector<Location> ArgumentReader::skip_values_of_unknown(const ParserWord& word,
                                                             const Name& name) {
  std::vector<Location> words = {word.where};
  if (name.value_at != std::string::npos || name.text.starts_with("--no-")) return words;
  const Flag* const other = find_flag(name.text.substr(name.text.starts_with("--") ? 2 : 0));
  const FlagKind kind = other ? flag_kind(*other, version_) : FlagKind{};
  if (kind.is_switch()) return words;
  if (next_is_value()) words.push_back((*words_)[next_++].where);
  while (kind.form == FlagForm::kWords && next_is_value()) {
    words.push_back((*words_)[next_++].where);
  }
  return words;
}

// `-O3`, `-O 3`: a key of the compilation config from 0.9 to 0.11; a plain value before, and an
// option of its own from 0.12 on.
bool ArgumentReader::read_level(const ParserWord& word, const Name& name) {
  if (!name.text.starts_with("-O") || name.text.find('.') != std::string::npos) return false;
  if (version_ < kDottedKeys || version_ >= kOptimizationLevel) return false;
  const std::optional<ParserWord> value =
      name.text.size() > 2 ? part_of(word, 2) : take_value(word, name);
  if (value) {
    const bool mode = version_ >= kModeInsteadOfLevel;
    fold("compilation-config", mode ? "mode" : "level", word, *value);
  } else {
    refuse_value(word, Refusal::kMissingValue, word, "-O");
  }
  return true;
}

bool ArgumentReader::read_dotted(const ParserWord& word, const Name& name) {
  const size_t dot = name.text.find('.');
  if (version_ < kDottedKeys || dot == std::string::npos) return false;
  const std::string base = name.text.substr(0, dot);
  if (base == "-O" && version_ >= kLevelTakesNoKeys) {
    refuse(word, Refusal::kOther, "-O takes a level only, keys go behind --compilation-config");
    return true;
  }
  const Option* const option =
      base == "-O" ? options_.find("--compilation-config") : resolve(word, {base, name.value_at});
  if (!option) return true;
  if (const std::optional<ParserWord> value = take_value(word, name)) {
    fold(option->flag->name, name.text.substr(dot + 1), word, *value);
  } else {
    refuse_value(word, Refusal::kMissingValue, word, name.text);
  }
  return true;
}

void ArgumentReader::fold(const std::string& flag, const std::string& path, const ParserWord& word,
                          const ParserWord& value) {
  const Setting setting{value.text.str(), value.where, word.where, word.origin,
                        word.known && value.known};
  const std::string key = path.ends_with('+') ? path.substr(0, path.size() - 1) : path;
  settings_.set(flag + "." + key, setting);
  Folded& folded = folded_[flag];
  if (folded.values.empty()) folded.setting = setting;
  folded.setting.known = folded.setting.known && value.known;
  folded.values.push_back({path, value.text.str()});
}

// The text behind `=`, or the next word.
std::optional<ParserWord> ArgumentReader::take_value(const ParserWord& word, const Name& name) {
  if (name.value_at != std::string::npos) return part_of(word, name.value_at);
  if (!next_is_value()) return std::nullopt;
  const ParserWord& value = (*words_)[next_++];
  if (version_ >= kDottedNumbersFail && value.text.view().starts_with('-') &&
      value.text.view().find('.') != std::string_view::npos) {
    refuse(value, Refusal::kOther,
           "a negative decimal as a word of its own is read as an option; write " + name.text +
               "=" + value.text.str());
  }
  return value;
}

void ArgumentReader::read_option(const ParserWord& word, const Name& name, const Option& option) {
  const FlagKind kind = flag_kind(*option.flag, version_);
  const bool glued = option.text.size() == 2 && name.text.size() > 2;
  if (glued) {
    store(option, kind, word, part_of(word, 2));
  } else if (kind.is_switch()) {
    read_switch(word, name, option);
  } else if (kind.form == FlagForm::kWords && name.value_at == std::string::npos) {
    read_list(word, option);
  } else if (const std::optional<ParserWord> value = take_value(word, name)) {
    store(option, kind, word, *value);
  } else if (kind.form == FlagForm::kBoolValue) {
    set(option.flag->name, word, {"true", word.where, word.where, word.origin, word.known});
  } else if (kind.form != FlagForm::kOptionalValue) {
    refuse_value(word, Refusal::kMissingValue, word, option.text);
  }
}

void ArgumentReader::read_switch(const ParserWord& word, const Name& name, const Option& option) {
  if (name.value_at != std::string::npos) {
    refuse_value(word, Refusal::kSwitchValue, word, option.text);
    return;
  }
  const std::string value = option.negative ? "false" : "true";
  const Location where = word.value ? word.value : word.where;
  set(option.flag->name, word, {value, where, word.where, word.origin, word.known});
  if (next_is_value() && is_truth_value((*words_)[next_].text.view())) {
    refuse_value((*words_)[next_++], Refusal::kSwitchValue, word, option.text);
  }
}

void ArgumentReader::read_list(const ParserWord& word, const Option& option) {
  if (!next_is_value()) {
    refuse_value(word, Refusal::kMissingValue, word, option.text);
    return;
  }
  Setting setting{"", (*words_)[next_].where, word.where, word.origin, word.known};
  for (; next_is_value(); ++next_) {
    const ParserWord& item = (*words_)[next_];
    if (!setting.value.empty()) setting.value += ' ';
    setting.value += item.text.str();
    setting.known = setting.known && item.known;
  }
  set(option.flag->name, word, std::move(setting));
}

// A flag that only some branch of a template or script gives leaves open which value holds; it
// stands where the first of them does.
void ArgumentReader::set(const std::string& name, const ParserWord& word, Setting setting) {
  const Setting* const before = settings_.find(name);
  if (before == nullptr || !may_be_missing(word)) {
    return settings_.replace(name, std::move(setting));
  }
  setting = *before;
  setting.known = false;
  settings_.set(name, std::move(setting));
}

void ArgumentReader::store(const Option& option, const FlagKind& kind, const ParserWord& word,
                           const ParserWord& value) {
  const std::string& name = option.flag->name;
  const std::string& text = value.text.str();
  if (kind.nullable && word.known && value.known && (text.empty() || text == "None")) {
    settings_.unset(name);
    return;
  }
  // A flag that may be missing has a value that may be missing.
  Setting setting{text, value.where, word.where, word.origin, word.known && value.known};
  if (kind.form == FlagForm::kBoolValue && value.known) {
    setting.value = text == "true" || text == "True" ? "true" : "false";
  }
  const Setting* const before = settings_.find(name);
  const bool adds = kind.form == FlagForm::kRepeat && before != nullptr;
  if (adds) setting.value = before->value + " " + text;
  if (adds && !may_be_missing(word)) {
    settings_.set(name, std::move(setting));
  } else {
    set(name, word, std::move(setting));
  }
  if (name == "model") check_model_flag(word);
}

// `vllm serve` takes the model as a word of its own; `--model` came later and in steps.
void ArgumentReader::check_model_flag(const ParserWord& word) {
  if (!serve_) return;
  const bool joined = word.text.view().find('=') != std::string_view::npos;
  if (version_ < kServeModelFlag) {
    refuse(word, Refusal::kOther, "vllm serve takes the model without --model until 0.8.2");
  } else if (word.origin == Origin::kFlag && !joined && version_ < kServeModelMoves) {
    refuse(word, Refusal::kOther, "vllm serve takes the model without --model until 0.11.0");
  }
}

void ArgumentReader::refuse(const ParserWord& word, Refusal kind, std::string problem) {
  settings_.refused_words.push_back(
      {as_written(word), word.where, std::move(problem), kind, "", word.origin, {}});
}

void ArgumentReader::refuse_value(const ParserWord& value, Refusal kind, const ParserWord& word,
                                  const std::string& option) {
  const bool missing = kind == Refusal::kMissingValue;
  settings_.refused_words.push_back({as_written(value), value.where,
                                     option + (missing ? " needs a value" : " takes no value"),
                                     kind, option, word.origin, word.where});
}

}  // namespace kvbudget
