#include "lint/memory/kv_dtype.h"

#include <array>

namespace kvbudget::memory {
namespace {

struct DtypeRow {
  KvDtype dtype;
  KvQuant quant;
  std::string_view spelling;
};

constexpr std::array kDtypes = {
    DtypeRow{KvDtype::kUnset, KvQuant::kNone, ""},
    DtypeRow{KvDtype::kAuto, KvQuant::kNone, "auto"},
    DtypeRow{KvDtype::kFloat16, KvQuant::kNone, "float16"},
    DtypeRow{KvDtype::kBFloat16, KvQuant::kNone, "bfloat16"},
    DtypeRow{KvDtype::kFp8, KvQuant::kFp8PerTensor, "fp8"},
    DtypeRow{KvDtype::kFp8E4M3, KvQuant::kFp8PerTensor, "fp8_e4m3"},
    DtypeRow{KvDtype::kFp8E5M2, KvQuant::kFp8PerTensor, "fp8_e5m2"},
    DtypeRow{KvDtype::kFp8Inc, KvQuant::kFp8PerTensor, "fp8_inc"},
    DtypeRow{KvDtype::kFp8DsMla, KvQuant::kFp8PerTensor, "fp8_ds_mla"},
    DtypeRow{KvDtype::kInt4PerTokenHead, KvQuant::kInt4PerTokenHead, "int4_per_token_head"},
    DtypeRow{KvDtype::kInt8PerTokenHead, KvQuant::kInt8PerTokenHead, "int8_per_token_head"},
    DtypeRow{KvDtype::kFp8PerTokenHead, KvQuant::kFp8PerTokenHead, "fp8_per_token_head"},
    DtypeRow{KvDtype::kNvfp4, KvQuant::kNvfp4, "nvfp4"},
    DtypeRow{KvDtype::kNvfp4FourOverSix, KvQuant::kNvfp4, "nvfp4_4over6"},
    DtypeRow{KvDtype::kNvfp4DsMla, KvQuant::kNvfp4DsMla, "nvfp4_ds_mla"},
    DtypeRow{KvDtype::kTurboquantK8V4, KvQuant::kTurboquantK8V4, "turboquant_k8v4"},
    DtypeRow{KvDtype::kTurboquant4BitNc, KvQuant::kTurboquant4BitNc, "turboquant_4bit_nc"},
    DtypeRow{KvDtype::kTurboquantK3V4Nc, KvQuant::kTurboquantK3V4Nc, "turboquant_k3v4_nc"},
    DtypeRow{KvDtype::kTurboquant3BitNc, KvQuant::kTurboquant3BitNc, "turboquant_3bit_nc"},
    DtypeRow{KvDtype::kUltraquant4Bit, KvQuant::kUltraquant4Bit, "ultraquant_4bit"},
    DtypeRow{KvDtype::kOctaveK3V4, KvQuant::kOctaveK3V4, "octave_k3v4"},
    DtypeRow{KvDtype::kOctaveK3V3, KvQuant::kOctaveK3V3, "octave_k3v3"},
    DtypeRow{KvDtype::kOctaveK3V3Compact, KvQuant::kOctaveK3V3Compact, "octave_k3v3_compact"},
};

const DtypeRow& row_of(KvDtype dtype) { return kDtypes[static_cast<size_t>(dtype)]; }

uint64_t packed_bytes(uint64_t elements, uint64_t element_bits) {
  return (elements * element_bits + 7) / 8;
}

/// Turboquant slots are rounded up to an even number of bytes (turboquant/config.py).
uint64_t turboquant_slot(uint64_t key_bytes, uint64_t value_bytes) {
  constexpr uint64_t kScaleAndZero = 4;  // of the value, float16 each
  const uint64_t slot = key_bytes + value_bytes + kScaleAndZero;
  return slot + slot % 2;
}

}  // namespace

std::optional<KvDtype> parse_kv_dtype(std::string_view spelling) {
  for (const DtypeRow& row : kDtypes) {
    if (!spelling.empty() && row.spelling == spelling) return row.dtype;
  }
  return std::nullopt;
}

std::string_view kv_dtype_name(KvDtype dtype) { return row_of(dtype).spelling; }

KvQuant kv_quant(KvDtype dtype) { return row_of(dtype).quant; }

ElementType kv_element(KvDtype dtype, ElementType model_dtype) {
  switch (dtype) {
    case KvDtype::kUnset:
    case KvDtype::kAuto:
      return model_dtype;
    case KvDtype::kFloat16:
      return ElementType::kFloat16;
    case KvDtype::kBFloat16:
      return ElementType::kBFloat16;
    case KvDtype::kInt8PerTokenHead:
      return ElementType::kInt8;
    default:
      return ElementType::kUInt8;
  }
}

uint64_t kv_head_bytes(KvQuant quant, ElementType element, uint32_t key_dim, uint32_t value_dim) {
  const uint64_t keys = key_dim;
  const uint64_t values = value_dim;
  constexpr uint64_t kTwoFloatScales = 8;  // one float32 for the key, one for the value
  constexpr uint64_t kNorm = 2;            // float16 norm of a rotated key
  switch (quant) {
    case KvQuant::kInt4PerTokenHead:
      return keys / 2 + values / 2 + kTwoFloatScales;
    case KvQuant::kInt8PerTokenHead:
    case KvQuant::kFp8PerTokenHead:
      return keys + values + kTwoFloatScales;
    case KvQuant::kNvfp4:  // an FP8 scale per 16 elements
      return keys / 2 + keys / 16 + values / 2 + values / 16;
    case KvQuant::kTurboquantK8V4:
      return turboquant_slot(keys, packed_bytes(values, 4));
    case KvQuant::kTurboquant4BitNc:
      return turboquant_slot(packed_bytes(keys, 4) + kNorm, packed_bytes(values, 4));
    case KvQuant::kTurboquantK3V4Nc:
      return turboquant_slot(packed_bytes(keys, 3) + kNorm, packed_bytes(values, 4));
    case KvQuant::kTurboquant3BitNc:
      return turboquant_slot(packed_bytes(keys, 3) + kNorm, packed_bytes(values, 3));
    case KvQuant::kUltraquant4Bit:  // a UE8M0 scale per 32 elements
      return keys / 2 + keys / 32 + values / 2 + values / 32;
    default:
      return (keys + values) * layout::bits(element) / 8;
  }
}

uint64_t ds_mla_record_bytes(KvDtype dtype, bool deepseek_v4) {
  if (dtype == KvDtype::kFp8DsMla) return deepseek_v4 ? 584 : 656;
  if (dtype == KvDtype::kNvfp4DsMla) return 352;
  return 0;
}

}  // namespace kvbudget::memory
