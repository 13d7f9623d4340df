#include "lint/report/paths.h"

#include <filesystem>

namespace kvbudget {

namespace {

bool is_unreserved(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string path_below_root(const ReportFolders& folders, std::string_view path) {
  namespace fs = std::filesystem;
  const fs::path given(path);
  if (folders.current.empty()) return given.lexically_normal().generic_string();
  const fs::path absolute = (fs::path(folders.current) / given).lexically_normal();
  const fs::path root(folders.root.empty() ? folders.current : folders.root);
  const fs::path relative = absolute.lexically_relative(root.lexically_normal());
  const bool outside = relative.empty() || *relative.begin() == "..";
  return (outside ? absolute : relative).generic_string();
}

std::string uri_of(const ReportFolders& folders, std::string_view path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  const std::string below = path_below_root(folders, path);
  std::string uri = below.starts_with('/') ? "file://" : "";
  for (const char c : below) {
    if (is_unreserved(c) || c == '/') {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += kHex[byte >> 4U];
    uri += kHex[byte & 15U];
  }
  return uri;
}

}  // namespace kvbudget
