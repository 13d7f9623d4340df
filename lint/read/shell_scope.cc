#include "lint/read/shell_scope.h"

#include <algorithm>

namespace kvbudget {
namespace {

constexpr size_t kMaxVariables = 5000;   // more are not remembered
constexpr size_t kMaxEnvironment = 500;  // variables; people set some dozens

bool same(const ShellValue& a, const ShellValue& b) {
  const auto equal = [](const Word& x, const Word& y) {
    return x.known == y.known && x.text.view() == y.text.view();
  };
  return a.known == b.known && a.array == b.array &&
         std::equal(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(), equal);
}

bool fully_known(const ShellValue& value) {
  return value.known && std::all_of(value.words.begin(), value.words.end(),
                                    [](const Word& word) { return word.known; });
}

/// `PORT="$2"`: what an argument of the script would set; the value before is the default then.
bool is_argument(const ShellValue& value) {
  if (value.known || value.words.size() != 1) return false;
  std::string_view text = value.words[0].text.view();
  if (text.substr(0, 2) == "${" && text.back() == '}') {
    text = text.substr(1, text.size() - 2);
  }
  return text.size() == 2 && (text[0] == '$' || text[0] == '{') && text[1] >= '0' && text[1] <= '9';
}

bool is_flag(const Word& word) {
  const std::string_view text = word.text.view();
  const size_t begin = text.find_first_not_of(" \t\n");
  return begin == std::string_view::npos || text[begin] == '-';
}

size_t common_words(const ShellValue& a, const ShellValue& b) {
  const auto equal = [](const Word& x, const Word& y) {
    return x.known == y.known && x.text.view() == y.text.view();
  };
  const auto end =
      std::mismatch(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(), equal);
  return static_cast<size_t>(end.first - a.words.begin());
}

/// … or with words that nobody knows, which may be flags.
bool goes_on_with_flag(const ShellValue& value, size_t at) {
  if (value.words.size() <= at || is_flag(value.words[at])) return true;
  const Word& word = value.words[at];
  const std::string_view text = word.text.view();
  const size_t begin = text.find_first_not_of(" \t\n");
  const bool apart = value.array || begin > 0;
  return at > 0 && apart && !word.known && text[begin] == '$';
}

/// `ARGS+=(--eager)` under a condition: what all have in common is there, the rest may be. Values
/// that are no flags make the variable unknown.
ShellValue flags_that_may_be(const std::vector<const ShellValue*>& values) {
  const ShellValue unknown{{}, false, false};
  const ShellValue& first = *values.front();
  size_t common = first.words.size();
  for (const ShellValue* value : values) {
    if (!value->known || value->array != first.array) return unknown;
    common = std::min(common, common_words(first, *value));
  }
  // `--size 1` and `--size 2` have the flag in common, which says nothing without its value.
  const auto is_flag_next = [&] {
    return std::all_of(values.begin(), values.end(),
                       [&](const ShellValue* value) { return goes_on_with_flag(*value, common); });
  };
  while (common > 0 && !is_flag_next()) --common;
  if (!is_flag_next()) return unknown;
  ShellValue result{
      {first.words.begin(), first.words.begin() + static_cast<std::ptrdiff_t>(common)},
      first.array,
      true};
  for (const ShellValue* value : values) {
    if (!first.array && value->words.size() > common && result.words.size() > common) {
      Word blank{value->words[common].text.substr(0, 0), true};
      blank.text.append_synthetic(" ", value->words[common].text.offset(0));
      result.words.push_back(std::move(blank));
    }
    for (size_t i = common; i < value->words.size(); ++i) {
      result.words.push_back({value->words[i].text, false});
    }
  }
  return result;
}

}  // namespace

void ShellScope::inherit(const EnvVar& variable) {
  Variable& entry = change(variable.name);
  entry.value = ShellValue{{Word{variable.value, variable.known}}, false, variable.known};
  entry.set = true;
  entry.exported = true;
}

const ShellValue* ShellScope::find(std::string_view name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() || !found->second.set ? nullptr : &found->second.value;
}

ShellScope::Variable& ShellScope::change(const SourceText& name) {
  if (variables_.size() >= kMaxVariables && variables_.find(name.view()) == variables_.end()) {
    return overflow_ = {};
  }
  auto [found, inserted] = variables_.try_emplace(name.str());
  if (inserted) {
    found->second.name = name;
    found->second.order = variables_.size();
  }
  if (!frames_.empty()) frames_.back().before.try_emplace(name.str(), found->second);
  return found->second;
}

void ShellScope::assign(const SourceText& name, ShellValue value) {
  Variable& variable = change(name);
  variable.value = std::move(value);
  variable.set = true;
}

void ShellScope::append(const SourceText& name, ShellValue value) {
  uint64_t bytes = 0;
  if (const ShellValue* old = find(name.view())) {
    for (const Word& word : old->words) bytes += word.text.size() + 1;
  }
  Variable& variable = change(name);
  if (!variable.set) {
    variable.value = std::move(value);
  } else if (!variable.value.known || !value.known || !spend(bytes)) {
    variable.value.known = false;
  } else {
    std::move(value.words.begin(), value.words.end(), std::back_inserter(variable.value.words));
  }
  variable.set = true;
}

void ShellScope::set_exported(const SourceText& name) { change(name).exported = true; }

void ShellScope::set_unknown(const SourceText& name) {
  Variable& variable = change(name);
  variable.value = ShellValue{{}, false, false};
  variable.set = true;
}

std::vector<EnvVar> ShellScope::environment() const {
  std::vector<const Variable*> exported;
  for (const auto& [name, variable] : variables_) {
    if (variable.exported && variable.set && !variable.value.array) exported.push_back(&variable);
  }
  std::sort(exported.begin(), exported.end(),
            [](const Variable* a, const Variable* b) { return a->order < b->order; });
  if (exported.size() > kMaxEnvironment) exported.resize(kMaxEnvironment);
  std::vector<EnvVar> result;
  for (const Variable* variable : exported) {
    EnvVar& out = result.emplace_back();
    out.name = variable->name;
    out.known = fully_known(variable->value);
    for (const Word& piece : variable->value.words) {
      out.value.append(piece.text);
    }
  }
  return result;
}

void ShellScope::enter_branch() { frames_.emplace_back().begun = true; }

void ShellScope::begin_branch(Truth runs) {
  if (frames_.empty()) return;
  frames_.back().runs = runs;
  frames_.back().begun = true;
  frames_.back().is_choice = true;
}

void ShellScope::restore(Frame& frame) {
  for (auto& [name, before] : frame.before) variables_[name] = std::move(before);
  frame.before.clear();
}

void ShellScope::next_branch() {
  if (frames_.empty()) return;
  Frame& frame = frames_.back();
  if (frame.begun && !frame.decided && frame.runs != false) {
    Variables& outcome = frame.outcomes.emplace_back();
    for (const auto& [name, before] : frame.before) outcome.emplace(name, variables_.at(name));
    frame.decided = frame.runs == true;
  }
  restore(frame);
  frame.runs = std::nullopt;
  frame.begun = false;
}

void ShellScope::leave_branch() {
  if (frames_.empty()) return;
  next_branch();
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  Variables changed;
  for (const Variables& outcome : frame.outcomes) changed.insert(outcome.begin(), outcome.end());
  for (const auto& [name, first] : changed) {
    Variable& variable = change(first.name);
    std::vector<Variable> outcomes;
    if (!frame.decided) outcomes.push_back(variable);
    for (const Variables& outcome : frame.outcomes) {
      const auto found = outcome.find(name);
      outcomes.push_back(found == outcome.end() ? variable : found->second);
    }
    merge(variable, outcomes, frame.is_choice);
  }
}

void ShellScope::merge(Variable& variable, const std::vector<Variable>& outcomes, bool is_choice) {
  std::vector<const ShellValue*> values;
  for (const bool arguments : {false, true}) {  // of the script, only if nothing else is set
    if (!values.empty()) break;
    for (const Variable& outcome : outcomes) {
      variable.exported = variable.exported || outcome.exported;
      if (outcome.set && is_argument(outcome.value) == arguments) values.push_back(&outcome.value);
    }
  }
  if (values.empty()) return;
  const ShellValue first = *values.front();
  // Where it is not set there are no flags; other values are taken for the ones that are meant.
  const ShellValue nothing{{}, first.array, true};
  const bool may_be_unset = std::any_of(outcomes.begin(), outcomes.end(),
                                        [](const Variable& outcome) { return !outcome.set; });
  const bool flags = first.known && !first.words.empty() && is_flag(first.words.front());
  if (is_choice && may_be_unset && flags) values.push_back(&nothing);
  const bool agree = std::all_of(values.begin(), values.end(),
                                 [&](const ShellValue* value) { return same(*value, first); });
  variable.value = agree ? first : flags_that_may_be(values);
  variable.set = true;
}

void ShellScope::drop_branch() {
  if (frames_.empty()) return;
  restore(frames_.back());
  frames_.pop_back();
}

bool ShellScope::spend(uint64_t bytes) {
  if (bytes > budget_) {
    budget_ = 0;
    return false;
  }
  budget_ -= bytes;
  return true;
}

}  // namespace kvbudget
