// vllm/model_executor/layers/quantization: fp8.py (Fp8OnlineLinearMethod), bitsandbytes.py,
// experts_int8.py (0.6 to 0.33).
#include "lint/models/online_quantization.h"

#include "lint/models/quantization.h"

namespace kvbudget::models {

using memory::ElementType;
using memory::Weight;
using memory::WeightFormat;

bool quantize_online(memory::ModelShape& shape, std::string_view method) {
  WeightFormat format;
  bool experts_only = false;
  if (method == "fp8" || method == "fp8_per_tensor") {
    format = per_tensor_format(ElementType::kFloat8E4M3);
  } else if (method == "ptpc_fp8") {
    format = per_row_format(ElementType::kFloat8E4M3, 32);
  } else if (method == "fp8_per_block") {
    format = per_tensor_format(ElementType::kFloat8E4M3);
    format.group = format.group_rows = 128;
  } else if (method == "bitsandbytes") {
    format = grouped_format(ElementType::kInt4, 4, 64, 32, 0);
  } else if (method == "experts_int8") {
    format = per_row_format(ElementType::kInt8, 32);
    experts_only = true;
  } else {
    return false;
  }
  const auto convert = [&](std::vector<Weight>& weights) {
    for (Weight& weight : weights) {
      if (weight.linear && !weight.format.fixed_type && (weight.expert || !experts_only)) {
        weight.format = format;
      }
    }
  };
  convert(shape.weights);
  if (shape.mtp) convert(shape.mtp->weights);
  shape.quantization = method;
  return true;
}

}  // namespace kvbudget::models
