// Addresses: /{id}/resolve/{revision}/{file}, as huggingface_hub 0.34 builds them. The header of a
// safetensors file is 8 bytes of little-endian length and that many bytes of JSON
// (github.com/huggingface/safetensors, README, "Format").
#include "lint/hub/hub.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lint/hub/http.h"

namespace kvbudget {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// "org/name" or "name", of the characters that repositories are named with.
bool is_model_id(std::string_view model) {
  const bool plain = std::all_of(model.begin(), model.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./").find(c) != std::string_view::npos;
  });
  return plain && !model.empty() && model.front() != '/' && model.front() != '.' &&
         model.back() != '/' && std::count(model.begin(), model.end(), '/') <= 1 &&
         model.find("..") == std::string_view::npos;
}

std::string why(const HttpResponse& response) {
  if (!response.error.empty()) return response.error;
  const std::string status = std::to_string(response.status);
  if (response.status == 401 || response.status == 403) {
    return status + ", the model is gated or private; set HF_TOKEN";
  }
  if (response.status == 404) return "404, there is no such model or no config.json in it";
  return "the hub answered " + status;
}

bool write_file(const fs::path& path, const std::string& bytes) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  // Written beside and renamed, so that a run that stops half-way leaves nothing half.
  const fs::path part = path.string() + ".part";
  std::ofstream(part, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  fs::rename(part, path, error);
  return !error;
}

/// Bytes of the tensors that a safetensors header lists; 0 when it is none.
uint64_t tensor_bytes(const std::string& header) {
  const auto json = nlohmann::json::parse(header, nullptr, false);
  if (!json.is_object()) return 0;
  uint64_t end = 0;
  for (const auto& [name, tensor] : json.items()) {
    if (!tensor.is_object() || !tensor.contains("data_offsets")) continue;
    const auto& offsets = tensor["data_offsets"];
    const bool pair = offsets.is_array() && offsets.size() == 2 && offsets[1].is_number_unsigned();
    if (pair) end = std::max(end, offsets[1].get<uint64_t>());
  }
  return end;
}

}  // namespace

HubOptions hub_options(std::string& error) {
  HubOptions options;
  options.endpoint = variable("HF_ENDPOINT");
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  options.token = variable("HF_TOKEN");
  const std::string home = variable("HOME");
  std::string cache = variable("XDG_CACHE_HOME");
  if (cache.empty() && !home.empty()) cache = home + "/.cache";
  options.folder = cache + "/kvbudget/hub";
  if (options.endpoint.empty()) {
    error = "--hub: set HF_ENDPOINT to the address of the hub to ask";
  } else if (cache.empty()) {
    error = "--hub: set XDG_CACHE_HOME or HOME, where the answers are kept";
  }
  return options;
}

std::string Hub::fetch(std::string_view model) {
  const std::string id(model);
  if (!is_model_id(model)) return id + " is no name of a model on a hub";
  if (fs::exists(fs::path(options_.folder) / id / "config.json")) return "";
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = asked_.try_emplace(id);
  if (is_new) place->second = download(id);
  return place->second;
}

std::string Hub::download(const std::string& model) const {
  // config.json comes last: it says that the rest is there.
  for (const char* name : {"hf_quant_config.json", "tokenizer_config.json"})
    save(model, name, false);
  if (!save(model, "model.safetensors.index.json", false).empty()) save_weight_bytes(model);
  const std::string error = save(model, "config.json", true);
  return error.empty() ? "" : model + ": " + error;
}

std::string Hub::save(const std::string& model, const std::string& name, bool required) const {
  HttpRequest request;
  request.url = options_.endpoint + "/" + model + "/resolve/main/" + name;
  request.bearer_token = options_.token;
  const HttpResponse response = http_get(request);
  if (!response.error.empty() || response.status != 200) return why(response);
  const fs::path path = fs::path(options_.folder) / model / name;
  if (write_file(path, response.body)) return "";
  return required ? "cannot write " + path.string() : "not written";
}

/// A checkpoint of one file has no index; its header says what one would.
void Hub::save_weight_bytes(const std::string& model) const {
  constexpr uint64_t kLengthBytes = 8;
  constexpr uint64_t kMostHeader = uint64_t{64} << 20;
  HttpRequest request;
  request.url = options_.endpoint + "/" + model + "/resolve/main/model.safetensors";
  request.bearer_token = options_.token;
  request.range = {0, kLengthBytes - 1};
  request.max_bytes = kLengthBytes;  // a hub that ignores ranges is not asked for the weights
  const HttpResponse length = http_get(request);
  if (length.status != 206 || length.body.size() != kLengthBytes) return;
  uint64_t size = 0;
  for (size_t i = kLengthBytes; i-- > 0;)
    size = size << 8U | static_cast<unsigned char>(length.body[i]);
  if (size == 0 || size > kMostHeader) return;
  request.range = {kLengthBytes, kLengthBytes + size - 1};
  request.max_bytes = size;
  const HttpResponse header = http_get(request);
  const uint64_t bytes = header.status == 206 ? tensor_bytes(header.body) : 0;
  if (bytes == 0) return;
  const nlohmann::json index = {{"metadata", {{"total_size", bytes}}}};
  write_file(fs::path(options_.folder) / model / "model.safetensors.index.json", index.dump());
}

}  // namespace kvbudget
