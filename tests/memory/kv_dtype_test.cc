// Facts: page sizes of vllm/v1/kv_cache_interface.py and the attention backends, 0.20 to 0.33.
#include "lint/memory/kv_dtype.h"

#include <string>

#include "tests/support/catch.h"

namespace kvbudget::memory {
namespace {

TEST_CASE("every KV dtype is read by the name that it prints") {
  for (int i = static_cast<int>(KvDtype::kAuto); i <= static_cast<int>(KvDtype::kOctaveK3V3Compact);
       ++i) {
    const auto dtype = static_cast<KvDtype>(i);
    INFO(kv_dtype_name(dtype));
    CHECK(parse_kv_dtype(kv_dtype_name(dtype)) == dtype);
  }
  CHECK(!parse_kv_dtype("").has_value());
  CHECK(!parse_kv_dtype("fp7").has_value());
}

TEST_CASE("a token of one head takes the bytes of its format") {
  struct Row {
    const char* dtype;
    uint32_t key_dim, value_dim;
    uint64_t bytes;
  };
  const Row rows[] = {
      {"auto", 128, 128, 512},
      {"auto", 192, 128, 640},
      {"fp8", 128, 128, 256},
      {"fp8_e5m2", 256, 256, 512},
      {"int8_per_token_head", 128, 128, 264},
      {"fp8_per_token_head", 256, 256, 520},
      {"int4_per_token_head", 128, 128, 136},
      {"nvfp4", 128, 128, 144},
      {"turboquant_k8v4", 128, 128, 196},
      {"turboquant_4bit_nc", 256, 256, 262},
      {"turboquant_k3v4_nc", 128, 128, 118},
      {"turboquant_3bit_nc", 128, 128, 102},
      {"ultraquant_4bit", 128, 128, 136},
      {"octave_k3v4", 128, 128, 256},
  };
  for (const Row& row : rows) {
    const KvDtype dtype = parse_kv_dtype(row.dtype).value();
    INFO(row.dtype);
    CHECK(kv_head_bytes(kv_quant(dtype), kv_element(dtype, ElementType::kBFloat16), row.key_dim,
                        row.value_dim) == row.bytes);
  }
}

TEST_CASE("sparse MLA keeps records of its own size") {
  CHECK(ds_mla_record_bytes(KvDtype::kFp8DsMla, false) == 656);
  CHECK(ds_mla_record_bytes(KvDtype::kFp8DsMla, true) == 584);
  CHECK(ds_mla_record_bytes(KvDtype::kNvfp4DsMla, false) == 352);
  CHECK(ds_mla_record_bytes(KvDtype::kFp8, false) == 0);
}

}  // namespace
}  // namespace kvbudget::memory
