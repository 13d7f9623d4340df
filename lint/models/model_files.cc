#include "lint/models/model_files.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>

#include "lint/read/text.h"

namespace kvbudget::models {

namespace fs = std::filesystem;

namespace {

// The largest published config.json has 1 MiB, an index of safetensors 10.
constexpr uintmax_t kMaxBytes = uintmax_t{16} << 20;

std::string optional_text(const fs::path& path) { return read_file(path).text.value_or(""); }

fs::path beside(const fs::path& config, const std::string& name) {
  if (config.filename() == "config.json") return config.parent_path() / name;
  return config.parent_path() / (config.stem().string() + "." + name);
}

}  // namespace

FileText read_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return {std::nullopt, "no such file"};
  if (error) return {std::nullopt, error.message()};
  if (!fs::is_regular_file(status)) return {std::nullopt, "not a regular file"};
  if (fs::file_size(path, error) > kMaxBytes) return {std::nullopt, "larger than 16 MiB"};
  std::ifstream in(path, std::ios::binary);
  if (!in) return {std::nullopt, "cannot be opened"};
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) return {std::nullopt, "cannot be read"};
  return {std::move(text), ""};
}

FindResult read_model_files(const fs::path& path, std::string id) {
  std::error_code error;
  const fs::path config = fs::is_directory(path, error) ? path / "config.json" : path;
  FileText text = read_file(config);
  FindResult result;
  if (!text.text) {
    result.error = config.string() + ": " + text.error;
    return result;
  }
  ModelFiles files;
  files.id = std::move(id);
  files.source = config.string();
  files.config = std::move(*text.text);
  files.safetensors_index = optional_text(beside(config, "model.safetensors.index.json"));
  files.quant_config = optional_text(beside(config, "hf_quant_config.json"));
  files.tokenizer_config = optional_text(beside(config, "tokenizer_config.json"));
  result.files = std::move(files);
  return result;
}

}  // namespace kvbudget::models
