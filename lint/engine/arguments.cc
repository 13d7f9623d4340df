// From an engine start to settings (see settings.h): the words of the config file first, then the
// command line, then what the environment sets.
#include <array>

#include "lint/engine/argument_reader.h"
#include "lint/engine/config_words.h"
#include "lint/engine/envs.h"
#include "lint/engine/settings.h"

namespace kvbudget {
namespace {

constexpr std::string_view kConfigFlag = "--config";

// Variables that stand in for a flag that is not given (vllm/envs.py, vllm/config/parallel.py).
struct VariableSetting {
  std::string_view variable;
  std::string_view setting;
};
constexpr std::array kVariableSettings = {
    VariableSetting{"VLLM_ALL2ALL_BACKEND", "all2all-backend"},
    VariableSetting{"VLLM_API_KEY", "api-key"},
    VariableSetting{"VLLM_ATTENTION_BACKEND", "attention-backend"},
    VariableSetting{"VLLM_DP_SIZE", "data-parallel-size"},
};

// The file is read by vLLM's own command from 0.6.0 and by the api_server module from 0.10.2 on.
bool reads_config_file(Version version, const EngineStart& start) {
  const bool command = start.serve || start.use == EngineUse::kBatch;
  return version >= (command ? Version{0, 6, 0} : Version{0, 10, 2});
}

void read_environment(const EngineStart& start, Settings& settings) {
  for (const EnvVar& variable : start.env) {
    settings.set_environment(variable.name.str(),
                             {variable.value.str(), variable.value.location(),
                              variable.name.location(), Origin::kEnvironment, variable.known});
  }
  for (const VariableSetting& pair : kVariableSettings) {
    const Setting* const variable = settings.environment(pair.variable);
    if (!variable || settings.has(pair.setting)) continue;
    if (!env_exists(pair.variable, settings.version)) continue;
    settings.set(std::string(pair.setting), *variable);
  }
}

}  // namespace

Settings read_settings(const EngineStart& start, Version version, const Node* config_file) {
  Settings settings;
  settings.version = version;
  settings.use = start.use;
  settings.keyword_arguments = start.keys_are_arguments;
  ArgumentReader reader(settings, start.serve);
  std::vector<ConfigKey> keys;
  if (start.keys_are_arguments) {
    reader.read(words_of_arguments(start.config, version), false);
  } else {
    keys = start.config;
  }
  if (config_file && reads_config_file(version, start)) {
    for (const Entry& entry : config_file->entries) keys.push_back({entry.key, entry.value});
  }
  reader.read(words_of_config(keys, version, start.serve), false);
  settings.dropped_keys = dropped_keys(keys, version, start.serve);
  reader.read(words_of_command(start.argv), true);
  reader.finish();
  read_environment(start, settings);
  return settings;
}

std::string config_file_of(const EngineStart& start) {
  for (size_t i = 0; i + 1 < start.argv.size(); ++i) {
    if (start.argv[i].text.view() != kConfigFlag) continue;
    const Word& file = start.argv[i + 1];
    return file.known ? file.text.str() : std::string();
  }
  return "";
}

}  // namespace kvbudget
