// Reading a config.json key by key, tolerant in spelling and strict in values.
//
// Families of models spell one fact differently ("num_hidden_layers", "n_layer"), so every accessor
// takes a list of spellings, "a|b|c", and the first that is present counts. A value that makes no
// sense for its key (negative, fractional, a string, absurdly large) is an error that names the
// key. The first error stays; reading goes on with fallbacks, and the caller checks once at the
// end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/models/json.h"

namespace kvbudget::models {

class Config {
 public:
  /// `error` outlives this object and its nested ones and gets the first error.
  Config(const Json& object, std::string& error) : object_(&object), error_(&error) {}

  /// What the class in transformers assumes for absent keys: "num_key_value_heads=8,…". A key that
  /// is present and null has no value and no default.
  void add_defaults(std::string_view defaults) { defaults_.push_back(defaults); }

  /// The value of the first spelling that is present, nullptr when none is or it is null.
  const Json* find(std::string_view spellings) const { return lookup(spellings).value; }
  bool has(std::string_view spellings) const { return find(spellings) != nullptr; }
  bool present(std::string_view key) const { return object_->contains(std::string(key)); }

  /// A whole number in [0, limit].
  std::optional<uint64_t> count(std::string_view spellings, uint64_t limit) const;
  /// The same, when the model cannot be without it: at least 1, absent is an error.
  uint64_t required(std::string_view spellings, uint64_t limit) const;
  /// A count of one layer: the number, or an entry of a list with one for each layer.
  std::optional<uint64_t> count_of(uint32_t layer, std::string_view spellings,
                                   uint64_t limit) const;
  /// The same, when the model cannot be without it.
  uint64_t required_of(uint32_t layer, std::string_view spellings, uint64_t limit) const;
  double number(std::string_view spellings, double fallback) const;
  bool flag(std::string_view spellings, bool fallback) const;
  std::string text(std::string_view spellings) const;
  /// Texts of a list; empty when absent.
  std::vector<std::string> texts(std::string_view spellings) const;

  /// Whether the list of numbers under `key` holds `number`.
  bool lists(std::string_view key, uint64_t number) const;

  /// The object under `key`, if there is one.
  std::optional<Config> nested(std::string_view key) const;
  /// The same for one layer: the object, or an entry of a list with one for each layer.
  std::optional<Config> nested_of(uint32_t layer, std::string_view key) const;

  /// The same with an error of its own: what fails there does not fail here.
  Config apart(std::string& error) const {
    Config other = *this;
    other.error_ = &error;
    return other;
  }

  const Json& json() const { return *object_; }
  bool failed() const { return !error_->empty(); }
  void fail(std::string message) const;

 private:
  struct Entry {
    std::string_view key;  ///< the spelling that was met
    const Json* value = nullptr;
  };
  Entry lookup(std::string_view spellings) const;
  std::optional<std::string_view> default_of(std::string_view spellings) const;
  void fail_value(const Entry& entry, std::string_view expected) const;

  const Json* object_;
  std::string* error_;
  std::vector<std::string_view> defaults_;
};

/// Calls `visit` with each part of "a|b|c" until it returns true.
template <typename Visit>
bool any_part(std::string_view list, char separator, Visit visit) {
  while (!list.empty()) {
    const size_t end = list.find(separator);
    if (visit(list.substr(0, end))) return true;
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
  }
  return false;
}

/// Whether "a|b|c" has `name` among its parts.
bool listed(std::string_view list, std::string_view name);

}  // namespace kvbudget::models
