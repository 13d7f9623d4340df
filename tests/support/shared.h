// The collection of real files and measurements that stands beside a developer's checkout. Tests
// that read it carry the tag [corpus]; where it is absent they are reported as skipped.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "tests/support/catch.h"

namespace kvbudget::test {

/// A place in the collection: $KVB_SHARED, else ../shared beside the repository. It may not exist.
inline std::filesystem::path shared_path(const std::filesystem::path& inside) {
  const char* given = std::getenv("KVB_SHARED");
  const std::filesystem::path root =
      given != nullptr ? given : std::filesystem::path(KVB_SOURCE_DIR) / ".." / "shared";
  return root / inside;
}

/// Whether `path` is there; says why the test checks nothing when it is not. ctest takes the words
/// "shared collection is absent" for a skip (tests/CMakeLists.txt).
inline bool shared_exists(const std::filesystem::path& path) {
  if (std::filesystem::exists(path)) return true;
  WARN("skipped: the shared collection is absent: no " << path);
  return false;
}

}  // namespace kvbudget::test
