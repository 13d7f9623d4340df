// What flags say of the images and videos that a prompt may bring.
#pragma once

#include <cstdint>
#include <string_view>

namespace kvbudget {

/// Of --limit-mm-per-prompt, 1 where it says nothing of `input`: {"image": 2, "video": {"count":
/// 0}}, or image=2,video=0 as releases up to 0.8 take it.
uint32_t item_limit(std::string_view limits, std::string_view input);

/// Pixels of the largest image that --mm-processor-kwargs lets the processors of the Qwen-VL
/// families make, 0 where they keep their own.
uint64_t max_image_pixels(std::string_view kwargs);

}  // namespace kvbudget
