#include "lint/engine/settings.h"

#include <utility>

#include "lint/engine/flags.h"
#include "lint/engine/numbers.h"

namespace kvbudget {
namespace {

const Setting* look_up(const std::map<std::string, Setting, std::less<>>& map,
                       std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

// Numbers behind dots (`--compilation-config.x 1k`) take suffixes from 0.20.0 on.
FlagType number_type(std::string_view name, Version version) {
  if (name.find('.') != std::string_view::npos) {
    return version >= Version{0, 20, 0} ? FlagType::kHumanInt : FlagType::kInt;
  }
  const Flag* const flag = find_flag(name);
  return flag ? flag_kind(*flag, version).type : FlagType::kInt;
}

}  // namespace

std::string_view origin_name(Origin origin) {
  switch (origin) {
    case Origin::kFlag:
      return "flag";
    case Origin::kConfigFile:
      return "config";
    case Origin::kEnvironment:
      return "env";
    case Origin::kDefault:
      return "default";
  }
  return "";
}

const Setting* Settings::find(std::string_view name) const { return look_up(values_, name); }

const Setting* Settings::environment(std::string_view name) const {
  return look_up(environment_, name);
}

bool Settings::environment_is_on(std::string_view name) const {
  const Setting* const variable = environment(name);
  return variable && variable->known && python_int(variable->value).value_or(0) != 0;
}

bool Settings::is_true(std::string_view name) const { return text(name) == "true"; }

std::optional<int64_t> Settings::integer(std::string_view name) const {
  const Setting* const setting = find(name);
  if (!setting || !setting->known) return std::nullopt;
  const FlagType type = number_type(name, version);
  if (type == FlagType::kHumanInt || type == FlagType::kHumanIntAuto) {
    return human_int(setting->value, type, version);
  }
  return python_int(setting->value);
}

std::optional<double> Settings::real(std::string_view name) const {
  const Setting* const setting = find(name);
  return setting && setting->known ? python_float(setting->value) : std::nullopt;
}

void Settings::replace(const std::string& name, Setting setting) {
  if (const Setting* const before = find(name)) overridden.push_back({name, *before});
  set(name, std::move(setting));
}

std::string Settings::text(std::string_view name) const {
  const Setting* const setting = find(name);
  return setting && setting->known ? setting->value : std::string();
}

}  // namespace kvbudget
