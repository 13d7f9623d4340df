#include "lint/engine/encoder_limits.h"

#include <algorithm>
#include <optional>
#include <string>

#include "lint/engine/json_text.h"
#include "lint/engine/numbers.h"

namespace kvbudget {
namespace {

std::optional<std::string> pair_value(std::string_view pairs, std::string_view key) {
  const std::string start = std::string(key) + "=";
  const size_t at = pairs.find(start);
  if (at == std::string_view::npos) return std::nullopt;
  pairs.remove_prefix(at + start.size());
  return std::string(pairs.substr(0, pairs.find(',')));
}

}  // namespace

uint32_t item_limit(std::string_view limits, std::string_view input) {
  std::optional<std::string> limit = json_member(limits, input);
  if (limit) limit = json_member(*limit, "count").value_or(*limit);
  if (!limit) limit = pair_value(limits, input);
  const std::optional<int64_t> count = limit ? python_int(*limit) : std::nullopt;
  return count && *count >= 0 ? static_cast<uint32_t>(std::min<int64_t>(*count, UINT16_MAX)) : 1;
}

// _get_vision_info in vllm/model_executor/models/qwen2_vl.py: max_pixels is the longest edge of
// "size", wherever that stands.
uint64_t max_image_pixels(std::string_view kwargs) {
  const std::string images = json_member(kwargs, "images_kwargs").value_or(std::string(kwargs));
  const std::optional<std::string> size = json_member(images, "size");
  std::optional<std::string> pixels = json_member(images, "max_pixels");
  if (!pixels && size) pixels = json_member(*size, "longest_edge");
  const std::optional<int64_t> count = pixels ? python_int(*pixels) : std::nullopt;
  return count && *count > 0 ? static_cast<uint64_t>(*count) : 0;
}

}  // namespace kvbudget
