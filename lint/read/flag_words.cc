#include "lint/read/flag_words.h"

#include <algorithm>
#include <array>
#include <string>

#include "lint/read/container.h"
#include "lint/read/shell_words.h"

namespace kvbudget {
namespace {

void add_words(const Node& node, std::vector<Word>& argv) {
  if (node.is_scalar()) {
    for (Word& word : split_words(word_of(node))) argv.push_back(std::move(word));
    return;
  }
  for (const NodePtr& item : node.items) {
    if (item->is_scalar()) argv.push_back(word_of(*item));
  }
}

void add_switch(const Node& value, std::string_view flag, bool pair, std::vector<Word>& argv) {
  const std::optional<bool> truth = truth_of(&value);
  const bool known = truth.has_value();
  if (known && !*truth && !pair) return;
  const std::string_view dashes = known && !*truth ? "--no-" : "--";
  Word word = word_over(std::string(dashes) + std::string(flag), value.text);
  word.known = known;
  argv.push_back(std::move(word));
}

}  // namespace

// The first byte stands at the beginning of the place and all others at its end: the word covers
// the place and is not taken for text that is spelled there.
Word word_over(std::string_view word, const SourceText& place) {
  const Location where = place.location();
  Word result{SourceText::empty_at(place.file(), where.range), true};
  const uint32_t last = std::max(where.range.begin + 1, where.range.end) - 1;
  for (size_t i = 0; i < word.size(); ++i) {
    result.text.append(word[i], i == 0 ? where.range.begin : last);
  }
  return result;
}

void add_flag(const Entry& entry, std::string_view flag, KeyForm form, std::vector<Word>& argv) {
  const Node& value = *entry.value;
  if (form == KeyForm::kWords) return add_words(value, argv);
  if (!value.is_scalar() || value.text.empty()) return;
  if (form != KeyForm::kValue) return add_switch(value, flag, form == KeyForm::kPair, argv);
  argv.push_back(word_over("--" + std::string(flag), entry.key));
  argv.push_back(word_of(value));
}

std::optional<bool> truth_of(const Node* node) {
  if (node == nullptr || !node->is_scalar()) return std::nullopt;
  std::string text(node->scalar());
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  static constexpr std::array<std::string_view, 3> kTrue = {"true", "yes", "on"};
  static constexpr std::array<std::string_view, 3> kFalse = {"false", "no", "off"};
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
  return std::nullopt;
}

}  // namespace kvbudget
