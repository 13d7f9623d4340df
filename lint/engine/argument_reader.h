// The engine's argument parser as a state machine over words; arguments.cc feeds it. The rules
// follow Python's argparse below vLLM's FlexibleArgumentParser (vllm/utils/argparse_utils.py);
// where a release differs, the version stands beside it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lint/engine/config_words.h"
#include "lint/engine/json_text.h"
#include "lint/engine/options.h"
#include "lint/engine/settings.h"

namespace kvbudget {

class ArgumentReader {
 public:
  /// Fills `settings`, whose version is set.
  ArgumentReader(Settings& settings, bool serve);

  /// Reads words behind those read before. Only the command line can hold a positional model.
  void read(const std::vector<ParserWord>& words, bool takes_model);
  /// Joins dotted options and decides on the model.
  void finish();

 private:
  /// The name of an option word: normalised, with dashes, without value.
  struct Name {
    std::string text;
    size_t value_at = std::string::npos;  ///< where the value begins in the word
  };
  /// A flag whose value is built from `--flag.key` words.
  struct Folded {
    std::vector<DottedValue> values;
    Setting setting;
  };

  Name name_of(const ParserWord& word) const;
  bool next_is_value() const;
  const Option* glued_option(const Name& name) const;
  const Option* resolve(const ParserWord& word, const Name& name);
  std::vector<Location> skip_values_of_unknown(const ParserWord& word, const Name& name);
  std::optional<ParserWord> take_value(const ParserWord& word, const Name& name);

  void read_word(const ParserWord& word);
  void read_positional(const ParserWord& word);
  bool read_level(const ParserWord& word, const Name& name);
  bool read_dotted(const ParserWord& word, const Name& name);
  void read_option(const ParserWord& word, const Name& name, const Option& option);
  void read_switch(const ParserWord& word, const Name& name, const Option& option);
  void read_list(const ParserWord& word, const Option& option);

  void store(const Option& option, const FlagKind& kind, const ParserWord& word,
             const ParserWord& value);
  void fold(const std::string& flag, const std::string& path, const ParserWord& word,
            const ParserWord& value);
  void check_model_flag(const ParserWord& word);
  void choose_model();
  void check_model_places();
  void set(const std::string& name, const ParserWord& word, Setting setting);
  void refuse(const ParserWord& word, Refusal kind, std::string problem);
  /// A value, or its lack, that `option` is to blame for.
  void refuse_value(const ParserWord& value, Refusal kind, const ParserWord& word,
                    const std::string& option);

  Settings& settings_;
  const Version version_;
  const bool serve_;
  const OptionTable options_;
  const std::vector<ParserWord>* words_ = nullptr;
  size_t next_ = 0;
  bool takes_model_ = true;
  std::optional<ParserWord> positional_;
  std::map<std::string, Folded> folded_;
};

}  // namespace kvbudget
