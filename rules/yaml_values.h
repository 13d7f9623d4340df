// Values of a vLLM config file that reach the parser as another text than the file seems to say.
#pragma once

#include "lint/engine/settings.h"

namespace kvbudget {

/// `enforce-eager: "true"`: the quotes make it a value.
inline bool is_quoted_switch(const RefusedWord& word) {
  return word.kind == Refusal::kSwitchValue && word.origin == Origin::kConfigFile;
}

/// A key without a value becomes the text None.
inline bool is_null_value(const RefusedValue& value) {
  return value.setting->origin == Origin::kConfigFile && value.setting->value == "None" &&
         value.setting->where.range.begin == value.setting->key.range.begin;
}

}  // namespace kvbudget
