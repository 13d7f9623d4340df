#include "lint/engine/quantization.h"

#include <algorithm>
#include <string>

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("the quantisation methods are sorted and every cell of theirs is read") {
  const auto methods = all_quantization_methods();
  REQUIRE(methods.size() > 40);
  CHECK(std::is_sorted(methods.begin(), methods.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const QuantizationMethod& method : methods) {
    INFO(method.name);
    REQUIRE(method.since);
    CHECK(find_quantization_method(method.name) == &method);
    CHECK((!method.removed || *method.since < *method.removed));
    CHECK(method.exists(*method.since));
    CHECK(method.capability.empty() == !method.least_capability(Version{0, 33, 0}));
    CHECK(method.takes_dtype("half", *method.since) +
              method.takes_dtype("bfloat16", *method.since) >
          0);
  }
}

TEST_CASE("a method lives from its first release to the one that drops it") {
  struct Case {
    const char* name;
    Version version;
    bool exists;
    bool deprecated;
  };
  const Case cases[] = {
      {"gguf", {0, 23, 0}, true, false},         {"gguf", {0, 24, 0}, false, false},
      {"bitsandbytes", {0, 27, 1}, true, false}, {"bitsandbytes", {0, 28, 0}, false, false},
      {"mxfp4", {0, 10, 0}, false, false},       {"mxfp4", {0, 10, 1}, true, false},
      {"experts_int8", {0, 14, 0}, true, true},  {"experts_int8", {0, 20, 0}, true, false},
      {"fbgemm_fp8", {0, 13, 0}, true, false},   {"fbgemm_fp8", {0, 32, 0}, true, true},
  };
  for (const Case& c : cases) {
    INFO(c.name << " in " << c.version.str());
    const QuantizationMethod* method = find_quantization_method(c.name);
    REQUIRE(method != nullptr);
    CHECK(method->exists(c.version) == c.exists);
    if (c.exists) CHECK(method->is_deprecated(c.version) == c.deprecated);
  }
}

TEST_CASE("the least compute capability of a method is that of the release") {
  struct Case {
    const char* name;
    Version version;
    ComputeCapability least;
  };
  const Case cases[] = {
      {"fp8", {0, 4, 1}, {9, 0}},
      {"fp8", {0, 5, 0}, {8, 9}},
      {"fp8", {0, 13, 0}, {8, 0}},
      {"fp8", {0, 14, 0}, {7, 5}},
      {"awq", {0, 30, 0}, {7, 5}},
      {"modelopt", {0, 26, 0}, {8, 9}},
      {"fp_quant", {0, 12, 0}, {10, 0}},
      {"gptq_marlin", {0, 22, 0}, {6, 0}},
      {"compressed-tensors", {0, 20, 0}, {7, 0}},
      {"compressed-tensors/packed", {0, 11, 2}, {8, 0}},
  };
  for (const Case& c : cases) {
    INFO(c.name << " in " << c.version.str());
    CHECK(find_quantization_method(c.name)->least_capability(c.version) == c.least);
  }
  CHECK_FALSE(find_quantization_method("inc")->least_capability(Version{0, 14, 0}));
}

TEST_CASE("AWQ and GPTQ without Marlin take float16 alone until they learn bfloat16") {
  const QuantizationMethod* awq = find_quantization_method("awq");
  CHECK(awq->takes_dtype("half", Version{0, 23, 0}));
  CHECK_FALSE(awq->takes_dtype("bfloat16", Version{0, 23, 0}));
  CHECK(awq->takes_dtype("bfloat16", Version{0, 24, 0}));
  CHECK_FALSE(find_quantization_method("gptq")->takes_dtype("bfloat16", Version{0, 21, 0}));
}
