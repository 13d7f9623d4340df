#include "lint/engine/quantization.h"

#include <algorithm>

#include "lint/engine/numbers.h"
#include "lint/engine/table.h"

namespace kvbudget {

bool QuantizationMethod::exists(Version version) const {
  return (!since || *since <= version) && (!removed || version < *removed);
}

bool QuantizationMethod::is_deprecated(Version version) const {
  return value_at(deprecation, version) == "true";
}

std::optional<ComputeCapability> QuantizationMethod::least_capability(Version version) const {
  const auto tenths = python_int(value_at(capability, version));
  if (!tenths || *tenths <= 0) return std::nullopt;
  return ComputeCapability{static_cast<uint8_t>(*tenths / 10), static_cast<uint8_t>(*tenths % 10)};
}

bool QuantizationMethod::takes_dtype(std::string_view dtype, Version version) const {
  const std::vector<std::string_view> known = split(value_at(dtypes, version), ',');
  return known.empty() || std::find(known.begin(), known.end(), dtype) != known.end();
}

std::span<const QuantizationMethod> all_quantization_methods() {
  static const std::vector<QuantizationMethod> methods = [] {
    std::vector<QuantizationMethod> parsed;
    for (const TableRow& row : read_engine_table("quantization.tsv", 7)) {
      parsed.push_back(
          {row[0], parse_version(row[1]), parse_version(row[2]), row[3], row[4], row[5], row[6]});
    }
    return parsed;
  }();
  return methods;
}

const QuantizationMethod* find_quantization_method(std::string_view name) {
  const std::span<const QuantizationMethod> methods = all_quantization_methods();
  const auto found = std::lower_bound(
      methods.begin(), methods.end(), name,
      [](const QuantizationMethod& method, std::string_view text) { return method.name < text; });
  return found != methods.end() && found->name == name ? &*found : nullptr;
}

}  // namespace kvbudget
