// A vLLM config file as the words it becomes: the engine turns each key into an option before it
// parses (vllm/utils/argparse_utils.py, load_config_file; its rules changed in 0.6.4, 0.9, 0.10.2,
// 0.16 and 0.28). Keyword arguments of the engine (EngineArgs, 0.2 to 0.33) become words too; false
// turns a switch off there, which only two-way switches have a word for.
#pragma once

#include <span>
#include <vector>

#include "lint/engine/settings.h"
#include "lint/read/engine_start.h"

namespace kvbudget {

/// A word on its way through the argument parser.
struct ParserWord {
  SourceText text;
  Location where;
  bool known = true;
  Origin origin = Origin::kFlag;
  Location value;  ///< of a switch that was a key: its `true`
};

std::vector<ParserWord> words_of_command(std::span<const Word> argv);
std::vector<ParserWord> words_of_config(std::span<const ConfigKey> keys, Version version,
                                        bool serve);
/// Keys that say false and become no word at all.
std::vector<DroppedKey> dropped_keys(std::span<const ConfigKey> keys, Version version, bool serve);
std::vector<ParserWord> words_of_arguments(std::span<const ConfigKey> keys, Version version);

}  // namespace kvbudget
