// What adapters of a family may change.
#pragma once

#include "lint/memory/model_shape.h"
#include "lint/models/family.h"

namespace kvbudget::models {

memory::LoraModules lora_modules(const Family& family);

}  // namespace kvbudget::models
