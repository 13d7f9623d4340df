// The disk behind the interface, and paths as its users cut and join them.
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

#include "lint/read/file_system.h"

namespace kvbudget {

namespace fs = std::filesystem;

namespace {

std::string lower_first(std::string text) {
  if (!text.empty()) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string errno_text() { return lower_first(std::strerror(errno)); }

FileKind kind_of(const fs::file_status& status) {
  switch (status.type()) {
    case fs::file_type::not_found:
    case fs::file_type::none:
      return FileKind::kMissing;
    case fs::file_type::regular:
      return FileKind::kFile;
    case fs::file_type::directory:
      return FileKind::kFolder;
    default:
      return FileKind::kOther;
  }
}

// A link to a folder would let a walk run in circles.
FileKind entry_kind(const fs::directory_entry& entry) {
  std::error_code error;
  const FileKind kind = kind_of(entry.status(error));
  if (kind == FileKind::kFolder && entry.is_symlink(error)) return FileKind::kOther;
  return kind == FileKind::kMissing ? FileKind::kOther : kind;
}

}  // namespace

FileKind DiskFiles::kind(const std::string& path) const {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  // Behind a folder without permission something may well be; reading it will say why not.
  if (status.type() == fs::file_type::none) return FileKind::kOther;
  return kind_of(status);
}

// Reads until the end instead of trusting the size: pipes and /proc files have none.
ReadResult DiskFiles::read(const std::string& path, uint64_t max_bytes) const {
  ReadResult result;
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) {
    result.error = errno_text();
    return result;
  }
  std::string bytes;
  std::array<char, 65536> chunk;
  size_t count = 0;
  while ((count = std::fread(chunk.data(), 1, chunk.size(), file.get())) > 0) {
    bytes.append(chunk.data(), count);
    if (bytes.size() <= max_bytes) continue;
    std::error_code error;
    result.file_bytes = fs::file_size(path, error);
    if (error) result.file_bytes = bytes.size();
    return result;
  }
  if (std::ferror(file.get()) != 0) {
    result.error = errno_text();
    return result;
  }
  result.file_bytes = bytes.size();
  result.bytes = std::move(bytes);
  return result;
}

FolderResult DiskFiles::list(const std::string& path) const {
  FolderResult result;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    result.entries.push_back({it->path().filename().string(), entry_kind(*it)});
  }
  if (error) result.error = lower_first(error.message());
  std::sort(result.entries.begin(), result.entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return result;
}

std::string DiskFiles::absolute(const std::string& path) const {
  std::error_code error;
  const fs::path full = fs::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

std::string DiskFiles::write(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file ? std::string() : errno_text();
}

std::string parent_folder(const std::string& path) {
  if (path == "." || path == "/") return "";
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string join_path(std::string_view folder, std::string_view name) {
  if (folder.empty() || folder == ".") return std::string(name);
  std::string path(folder);
  if (path.back() != '/') path += '/';
  return path += name;
}

}  // namespace kvbudget
