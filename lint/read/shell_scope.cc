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
  } else if (value.array || variable.value.array) {
    std::move(value.words.begin(), value.words.end(), std::back_inserter(variable.value.words));
  } else if (!value.words.empty() && !variable.value.words.empty()) {
    variable.value.words[0].text.append(value.words[0].text);
    variable.value.words[0].known = variable.value.words[0].known && value.words[0].known;
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
    if (!variable->value.words.empty()) out.value = variable->value.words[0].text;
  }
  return result;
}

void ShellScope::enter_branch() { frames_.emplace_back(); }

void ShellScope::restore(Frame& frame) {
  for (auto& [name, before] : frame.before) variables_[name] = std::move(before);
  frame.before.clear();
}

void ShellScope::next_branch() {
  if (frames_.empty()) return;
  Frame& frame = frames_.back();
  for (const auto& [name, before] : frame.before) {
    frame.outcomes[name].push_back(variables_.at(name));
  }
  restore(frame);
}

void ShellScope::leave_branch() {
  if (frames_.empty()) return;
  next_branch();
  const std::map<std::string, std::vector<Variable>> outcomes = std::move(frames_.back().outcomes);
  frames_.pop_back();
  for (const auto& [name, values] : outcomes) {
    Variable& variable = change(values.front().name);
    for (const Variable& outcome : values) {
      variable.exported = variable.exported || outcome.exported;
      if (!outcome.set) continue;
      if (!variable.set) {
        variable.value = outcome.value;
        variable.set = true;
      } else if (!is_argument(outcome.value) && !same(variable.value, outcome.value)) {
        variable.value = ShellValue{{}, false, false};
      }
    }
  }
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
