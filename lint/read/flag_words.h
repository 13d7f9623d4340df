// Words of a command line that a chart or an operator makes of keys: `maxModelLen: 4096` becomes
// `--max-model-len 4096`.
//
// The flag stands at the key and its value at the value; a switch stands at the value that decides
// it. So a finding about a setting points at what its author wrote.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lint/read/document.h"
#include "lint/read/engine_start.h"

namespace kvbudget {

/// A word that the file does not spell, located at the text that gives rise to it.
Word word_over(std::string_view word, const SourceText& place);

enum class KeyForm {
  kValue,   ///< `--flag value`
  kSwitch,  ///< true: `--flag`; false: nothing
  kPair,    ///< true: `--flag`; false: `--no-flag`
  kWords,   ///< arguments as they are: a list of words, or one text that a shell would split
};

/// What a key becomes. `flag` is without dashes.
struct KeyFlag {
  std::string_view key;
  std::string_view flag;
  KeyForm form = KeyForm::kValue;
};

/// Adds what one key becomes. A key without a value (null, empty text) counts as not given.
void add_flag(const Entry& entry, std::string_view flag, KeyForm form, std::vector<Word>& argv);

/// Adds what `table` makes of the keys of `mapping`, in the order of the table.
template <typename Table>
void add_flags(const Node* mapping, const Table& table, std::vector<Word>& argv) {
  if (mapping == nullptr) return;
  for (const KeyFlag& row : table) {
    if (const Entry* entry = mapping->find_entry(row.key)) {
      add_flag(*entry, row.flag, row.form, argv);
    }
  }
}

/// true, yes and on of YAML 1.1, quoted or not; nothing when it is neither true nor false.
std::optional<bool> truth_of(const Node* node);

}  // namespace kvbudget
