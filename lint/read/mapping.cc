#include "lint/read/mapping.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace kvbudget {

void MappingBuilder::add(SourceText key, NodePtr value) {
  entries_.push_back({std::move(key), std::move(value)});
}

void MappingBuilder::add_merge(const SourceText& key, NodePtr value) {
  merges_.push_back({key, std::move(value)});
}

std::vector<Entry> MappingBuilder::take() {
  std::vector<Entry> result;
  std::unordered_map<std::string_view, size_t> seen;
  result.reserve(entries_.size());  // the views in `seen` need entries that stay where they are
  for (Entry& entry : entries_) {
    const auto found = seen.find(entry.key.view());
    if (found == seen.end()) {
      result.push_back(std::move(entry));
      seen.emplace(result.back().key.view(), result.size() - 1);
      continue;
    }
    Entry& first = result[found->second];
    std::string message = "duplicate key '" + entry.key.str() + "'";
    if (const Location where = first.key.location()) {
      message += ", first in line " + std::to_string(where.file->position(where.range.begin).line);
    }
    errors_.push_back({entry.key.location(), message + "; the last one counts", true});
    seen.erase(found);
    const size_t index = static_cast<size_t>(&first - result.data());
    first = std::move(entry);
    seen.emplace(first.key.view(), index);
  }
  entries_ = std::move(result);
  for (const Entry& entry : merges_) {
    if (entry.value->is_mapping()) {
      merge(entry.value);
    } else if (entry.value->is_sequence()) {
      for (const NodePtr& item : entry.value->items) merge(item);
    } else {
      errors_.push_back({entry.key.location(), "'<<' needs a mapping to merge"});
    }
  }
  return std::move(entries_);
}

void MappingBuilder::merge(const NodePtr& mapping) {
  if (!mapping->is_mapping()) return;
  std::unordered_set<std::string> own;
  for (const Entry& entry : entries_) own.insert(entry.key.str());
  for (const Entry& entry : mapping->entries) {
    if (own.count(entry.key.str()) != 0) continue;
    const uint64_t cost = sizeof(Entry) + 5 * entry.key.size();
    if (budget_.merged_bytes < cost) {
      if (budget_.merged_bytes != 0) {
        errors_.push_back(
            {mapping->where, "merge keys multiply beyond reason, the rest is left out"});
      }
      budget_.merged_bytes = 0;
      return;
    }
    budget_.merged_bytes -= cost;
    entries_.push_back(entry);
  }
}

}  // namespace kvbudget
