#include "lint/models/model_files.h"

#include <cstdint>
#include <utility>

namespace kvbudget::models {

namespace fs = std::filesystem;

namespace {

// The largest published config.json has 1 MiB, an index of safetensors 10.
constexpr uint64_t kMaxBytes = uint64_t{16} << 20;

std::string optional_text(const FileSystem& files, const fs::path& path) {
  return read_file(files, path).text.value_or("");
}

fs::path beside(const fs::path& config, const std::string& name) {
  if (config.filename() == "config.json") return config.parent_path() / name;
  return config.parent_path() / (config.stem().string() + "." + name);
}

}  // namespace

FileText read_file(const FileSystem& files, const fs::path& path) {
  const std::string name = path.string();
  const FileKind kind = files.kind(name);
  if (kind == FileKind::kMissing) return {std::nullopt, "no such file"};
  if (kind != FileKind::kFile) return {std::nullopt, "not a regular file"};
  ReadResult read = files.read(name, kMaxBytes);
  if (!read.error.empty()) return {std::nullopt, read.error};
  if (!read.bytes) return {std::nullopt, "larger than 16 MiB"};
  return {std::move(*read.bytes), ""};
}

FindResult read_model_files(const FileSystem& files, const fs::path& path, std::string id) {
  const bool is_folder = files.kind(path.string()) == FileKind::kFolder;
  const fs::path config = is_folder ? path / "config.json" : path;
  FileText text = read_file(files, config);
  FindResult result;
  if (!text.text) {
    result.error = config.string() + ": " + text.error;
    return result;
  }
  const auto text_beside = [&](const char* name) {
    return optional_text(files, beside(config, name));
  };
  ModelFiles found;
  found.id = std::move(id);
  found.source = config.string();
  found.config = std::move(*text.text);
  found.safetensors_index = text_beside("model.safetensors.index.json");
  found.quant_config = text_beside("hf_quant_config.json");
  found.tokenizer_config = text_beside("tokenizer_config.json");
  result.files = std::move(found);
  return result;
}

}  // namespace kvbudget::models
