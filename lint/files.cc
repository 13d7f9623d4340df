#include "lint/files.h"

#include <utility>

#include "lint/plan_file.h"

namespace kvbudget {

const SourceFile* SourceStore::open(const std::string& path, std::string* error) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = sources_.find(path);
    if (known != sources_.end()) return known->second.get();
  }
  ReadResult read = files_.read(path, kMaxFileBytes);
  if (!read.bytes) {
    *error = read.error.empty() ? "too big" : read.error;
    return nullptr;
  }
  return add(path, std::move(*read.bytes));
}

const SourceFile* SourceStore::add(const std::string& path, std::string bytes) {
  auto file = std::make_unique<SourceFile>(path, std::move(bytes));
  const std::lock_guard lock(mutex_);
  return sources_.try_emplace(path, std::move(file)).first->second.get();
}

const std::vector<std::string>& SourceStore::plans_in(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = plans_.try_emplace(folder);
  if (!is_new) return found->second;
  for (const FolderEntry& entry : files_.list(folder).entries) {
    if (entry.kind == FileKind::kFile && is_plan_name(entry.name)) {
      found->second.push_back(entry.name);
    }
  }
  return found->second;
}

}  // namespace kvbudget
