#include "lint/models/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kvbudget::models {
namespace {

// Shows a value in an error message, cut short.
std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

std::optional<uint64_t> whole(const Json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (value.is_number_integer() && value.get<int64_t>() >= 0) {
    return static_cast<uint64_t>(value.get<int64_t>());
  }
  return std::nullopt;
}

}  // namespace

bool listed(std::string_view list, std::string_view name) {
  return any_part(list, '|', [&](std::string_view entry) { return entry == name; });
}

void Config::fail(std::string message) const {
  if (error_->empty()) *error_ = std::move(message);
}

void Config::fail_value(const Entry& entry, std::string_view expected) const {
  fail("key '" + std::string(entry.key) + "' is " + shown(*entry.value) + ", expected " +
       std::string(expected));
}

Config::Entry Config::lookup(std::string_view spellings) const {
  Entry found{spellings.substr(0, spellings.find('|'))};
  any_part(spellings, '|', [&](std::string_view key) {
    const auto it = object_->find(std::string(key));
    if (it == object_->end() || it->is_null()) return false;
    found = {key, &*it};
    return true;
  });
  return found;
}

std::optional<std::string_view> Config::default_of(std::string_view spellings) const {
  std::optional<std::string_view> result;
  const bool stated = any_part(spellings, '|', [&](std::string_view key) { return present(key); });
  if (stated) return result;
  for (const std::string_view defaults : defaults_) {
    any_part(spellings, '|', [&](std::string_view key) {
      return any_part(defaults, ',', [&](std::string_view entry) {
        const size_t equals = entry.find('=');
        if (result || entry.substr(0, equals) != key) return result.has_value();
        result = entry.substr(equals + 1);
        return true;
      });
    });
  }
  return result;
}

std::optional<uint64_t> Config::count(std::string_view spellings, uint64_t limit) const {
  const Entry entry = lookup(spellings);
  if (entry.value == nullptr) {
    const std::optional<std::string_view> text = default_of(spellings);
    uint64_t number = 0;
    if (!text) return std::nullopt;
    std::from_chars(text->data(), text->data() + text->size(), number);
    return number;
  }
  const std::optional<uint64_t> number = whole(*entry.value);
  if (number && *number <= limit) return number;
  fail_value(entry, "a whole number up to " + std::to_string(limit));
  return std::nullopt;
}

uint64_t Config::required(std::string_view spellings, uint64_t limit) const {
  const std::optional<uint64_t> number = count(spellings, limit);
  if (number && *number > 0) return *number;
  if (number) {
    fail("key '" + std::string(lookup(spellings).key) + "' is 0");
  } else if (spellings.find('|') == std::string_view::npos) {
    fail("key '" + std::string(spellings) + "' is missing");
  } else {
    fail("none of the keys " + std::string(spellings) + " is there");
  }
  return 1;
}

std::optional<uint64_t> Config::count_of(uint32_t layer, std::string_view spellings,
                                         uint64_t limit) const {
  const Entry entry = lookup(spellings);
  if (entry.value == nullptr || !entry.value->is_array()) return count(spellings, limit);
  const auto number =
      layer < entry.value->size() ? whole((*entry.value)[layer]) : std::optional<uint64_t>();
  if (number && *number <= limit) return number;
  fail("key '" + std::string(entry.key) + "' has no size for layer " + std::to_string(layer));
  return std::nullopt;
}

uint64_t Config::required_of(uint32_t layer, std::string_view spellings, uint64_t limit) const {
  const Entry entry = lookup(spellings);
  if (entry.value == nullptr || !entry.value->is_array()) return required(spellings, limit);
  const uint64_t number = count_of(layer, spellings, limit).value_or(0);
  if (number > 0) return number;
  fail("key '" + std::string(entry.key) + "' has no size for layer " + std::to_string(layer));
  return 1;
}

double Config::number(std::string_view spellings, double fallback) const {
  const Entry entry = lookup(spellings);
  if (entry.value == nullptr) return fallback;
  if (entry.value->is_number() && std::isfinite(entry.value->get<double>())) {
    return entry.value->get<double>();
  }
  fail_value(entry, "a number");
  return fallback;
}

bool Config::flag(std::string_view spellings, bool fallback) const {
  const Entry entry = lookup(spellings);
  if (entry.value == nullptr) return default_of(spellings).value_or(fallback ? "1" : "0") != "0";
  if (entry.value->is_boolean()) return entry.value->get<bool>();
  if (entry.value->is_number_integer()) return entry.value->get<int64_t>() != 0;
  fail_value(entry, "true or false");
  return fallback;
}

std::string Config::text(std::string_view spellings) const {
  const Json* value = find(spellings);
  if (value == nullptr) return std::string(default_of(spellings).value_or(""));
  return value->is_string() ? value->get<std::string>() : std::string();
}

std::vector<std::string> Config::texts(std::string_view spellings) const {
  std::vector<std::string> result;
  const Entry entry = lookup(spellings);
  if (entry.value == nullptr) return result;
  bool good = entry.value->is_array();
  for (const Json& item : good ? *entry.value : Json::array()) {
    good = good && item.is_string();
    if (item.is_string()) result.push_back(item.get<std::string>());
  }
  if (!good) fail_value(entry, "a list of texts");
  return result;
}

bool Config::lists(std::string_view key, uint64_t number) const {
  const Json* list = find(key);
  if (list == nullptr || !list->is_array()) return false;
  return std::any_of(list->begin(), list->end(), [&](const Json& item) {
    return item.is_number_unsigned() && item.get<uint64_t>() == number;
  });
}

std::optional<Config> Config::nested(std::string_view key) const {
  const auto it = object_->find(std::string(key));
  if (it == object_->end() || !it->is_object()) return std::nullopt;
  return Config(*it, *error_);
}

std::optional<Config> Config::nested_of(uint32_t layer, std::string_view key) const {
  const auto it = object_->find(std::string(key));
  if (it == object_->end() || !it->is_array()) return nested(key);
  if (layer < it->size() && (*it)[layer].is_object()) return Config((*it)[layer], *error_);
  fail("key '" + std::string(key) + "' has no object for layer " + std::to_string(layer));
  return std::nullopt;
}

}  // namespace kvbudget::models
