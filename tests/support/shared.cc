#include "tests/support/shared.h"

#include <cstdlib>
#include <filesystem>

namespace kvbudget::test {

std::string shared_root() {
  const char* given = std::getenv("KVB_SHARED");
  const std::string root = given != nullptr ? given : std::string(KVB_SOURCE_DIR) + "/../shared";
  return std::filesystem::is_directory(root) ? root : "";
}

std::string shared_file(const std::string& path) {
  const std::string root = shared_root();
  if (root.empty()) return "";
  const std::string full = root + "/" + path;
  return std::filesystem::is_regular_file(full) ? full : "";
}

}  // namespace kvbudget::test
