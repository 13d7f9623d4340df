// Element types of weights and KV caches: the one place that says how many bits each takes.
// Shared by the linter's arithmetic, the plugin and the kernels, so this stays C++17 and free of
// dependencies.
#pragma once

#include <cstdint>
#include <string_view>

namespace kvbudget::layout {

enum class ElementType : uint8_t {
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat8E4M3,
  kFloat8E5M2,
  kInt8,
  kUInt8,
  kFloat4E2M1,
  kInt4,
};

constexpr uint32_t bits(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return 32;
    case ElementType::kFloat16:
    case ElementType::kBFloat16:
      return 16;
    case ElementType::kFloat8E4M3:
    case ElementType::kFloat8E5M2:
    case ElementType::kInt8:
    case ElementType::kUInt8:
      return 8;
    case ElementType::kFloat4E2M1:
    case ElementType::kInt4:
      return 4;
  }
  return 0;
}

/// vLLM's and torch's spelling.
constexpr std::string_view name(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return "float32";
    case ElementType::kFloat16:
      return "float16";
    case ElementType::kBFloat16:
      return "bfloat16";
    case ElementType::kFloat8E4M3:
      return "float8_e4m3fn";
    case ElementType::kFloat8E5M2:
      return "float8_e5m2";
    case ElementType::kInt8:
      return "int8";
    case ElementType::kUInt8:
      return "uint8";
    case ElementType::kFloat4E2M1:
      return "float4_e2m1";
    case ElementType::kInt4:
      return "int4";
  }
  return "";
}

static_assert(bits(ElementType::kBFloat16) == 16 && bits(ElementType::kFloat8E4M3) == 8);

}  // namespace kvbudget::layout
