#include "lint/files.h"

#include <utility>

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

}  // namespace kvbudget
