#include "lint/plan/compare.h"

#include <algorithm>

namespace kvbudget::plan {
namespace {

std::string text_of(const Json* value) {
  return value == nullptr ? "absent" : value->dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_named(const Json& item) {
  return item.is_object() && item.contains("name") && item["name"].is_string();
}

bool all_named(const Json& list) {
  return list.is_array() && std::all_of(list.begin(), list.end(), is_named);
}

/// An object with the same members under keys: names where all have one, else indices.
Json keyed(const Json& list, bool by_name) {
  Json result = Json::object();
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string key = by_name ? list[i]["name"].get<std::string>() : std::to_string(i);
    result[key] = list[i];
  }
  return result;
}

const Json* member(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

class Comparison {
 public:
  std::vector<Difference> take() { return std::move(differences_); }

  void compare(const std::string& path, const Json* before, const Json* now) {
    if (before != nullptr && now != nullptr) {
      if (*before == *now) return;
      if (before->is_object() && now->is_object()) return members(path, *before, *now);
      if (before->is_array() && now->is_array()) {
        const bool by_name = all_named(*before) && all_named(*now);
        return members(path, keyed(*before, by_name), keyed(*now, by_name));
      }
    }
    differences_.push_back({path, text_of(before), text_of(now)});
  }

 private:
  void members(const std::string& path, const Json& before, const Json& now) {
    const std::string prefix = path.empty() ? "" : path + ".";
    for (const auto& [key, value] : now.items()) {
      compare(prefix + key, member(before, key), &value);
    }
    for (const auto& [key, value] : before.items()) {
      if (!now.contains(key)) compare(prefix + key, &value, nullptr);
    }
  }

  std::vector<Difference> differences_;
};

}  // namespace

std::vector<Difference> compare_plans(const Json& before, const Json& now) {
  Comparison comparison;
  comparison.compare("", &before, &now);
  return comparison.take();
}

}  // namespace kvbudget::plan
