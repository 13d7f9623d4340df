// What a KV cache stores per token: vLLM's --kv-cache-dtype spellings and the bytes that one key
// and value of one head take in each.
//
// Source: vllm/config/cache.py, vllm/v1/kv_cache_interface.py and the attention backends' cache
// formats, 0.10 to 0.33.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/layout/dtype.h"

namespace kvbudget::memory {

using layout::ElementType;

enum class KvDtype : uint8_t {
  kUnset,  ///< the layer names none
  kAuto,   ///< the model's own type
  kFloat16,
  kBFloat16,
  kFp8,
  kFp8E4M3,
  kFp8E5M2,
  kFp8Inc,
  kFp8DsMla,  ///< DeepSeek sparse attention: FP8 latent, scales and 16-bit rope in one record
  kInt4PerTokenHead,
  kInt8PerTokenHead,
  kFp8PerTokenHead,
  kNvfp4,
  kNvfp4FourOverSix,
  kNvfp4DsMla,
  kTurboquantK8V4,
  kTurboquant4BitNc,
  kTurboquantK3V4Nc,
  kTurboquant3BitNc,
  kUltraquant4Bit,
  kOctaveK3V4,
  kOctaveK3V3,
  kOctaveK3V3Compact,
};

std::optional<KvDtype> parse_kv_dtype(std::string_view spelling);
std::string_view kv_dtype_name(KvDtype dtype);

/// How vLLM quantises on write: dtypes of one scheme may share a cache group.
enum class KvQuant : uint8_t {
  kNone,
  kFp8PerTensor,
  kInt4PerTokenHead,
  kInt8PerTokenHead,
  kFp8PerTokenHead,
  kNvfp4,
  kNvfp4DsMla,
  kTurboquantK8V4,
  kTurboquant4BitNc,
  kTurboquantK3V4Nc,
  kTurboquant3BitNc,
  kUltraquant4Bit,
  kOctaveK3V4,
  kOctaveK3V3,
  kOctaveK3V3Compact,
};

KvQuant kv_quant(KvDtype dtype);

/// Type of the stored elements; packed formats are bytes.
ElementType kv_element(KvDtype dtype, ElementType model_dtype);

/// Bytes of the keys and values of one head of one token, scales included. A value dimension of 0
/// is a latent (MLA).
uint64_t kv_head_bytes(KvQuant quant, ElementType element, uint32_t key_dim, uint32_t value_dim);

/// Bytes of one token of a DeepSeek sparse-MLA record; 0 for other dtypes.
uint64_t ds_mla_record_bytes(KvDtype dtype, bool deepseek_v4);

}  // namespace kvbudget::memory
