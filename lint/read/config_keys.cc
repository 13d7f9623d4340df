#include "lint/read/config_keys.h"

#include <algorithm>
#include <string>

#include "lint/read/container.h"
#include "lint/read/flag_words.h"
#include "lint/read/kubernetes_pod.h"

namespace kvbudget {
namespace {

constexpr int kMaxDepth = 64;

bool is_known_to(const Node& value, int depth) {
  if (depth > kMaxDepth || has_placeholder(value.scalar())) return false;
  return std::all_of(value.items.begin(), value.items.end(),
                     [&](const NodePtr& item) { return is_known_to(*item, depth + 1); }) &&
         std::all_of(value.entries.begin(), value.entries.end(),
                     [&](const Entry& entry) { return is_known_to(*entry.value, depth + 1); });
}

}  // namespace

bool is_known(const Node& value) { return is_known_to(value, 0); }

ConfigKey renamed_key(const Entry& entry, std::string_view name) {
  return {word_over(name, entry.key).text, entry.value, is_known(*entry.value)};
}

void add_keys(const Node& mapping, std::vector<ConfigKey>& out) {
  for (const Entry& entry : mapping.entries) {
    out.push_back({entry.key, entry.value, is_known(*entry.value)});
  }
}

void add_words(const Node* list, std::vector<Word>& argv) {
  if (list == nullptr) return;
  for (const NodePtr& item : list->items) {
    if (!item->is_scalar()) continue;
    Word word = word_of(*item);
    word.known = word.known && !has_placeholder(item->scalar());
    argv.push_back(std::move(word));
  }
}

void add_variables(const Node* mapping, std::vector<EnvVar>& env) {
  if (mapping == nullptr) return;
  for (const Entry& entry : mapping->entries) {
    const bool known = entry.value->is_scalar() && word_of(*entry.value).known &&
                       !has_placeholder(entry.value->scalar());
    env.push_back({entry.key, entry.value->text, known});
  }
}

void set_image(const Node* image, EngineStart& start) {
  if (image == nullptr || !image->is_scalar()) return;
  start.image = image->text;
  start.image_known = word_of(*image).known && !has_placeholder(image->scalar());
}

}  // namespace kvbudget
