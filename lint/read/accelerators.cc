#include "lint/read/accelerators.h"

#include <algorithm>
#include <charconv>

namespace kvbudget {

std::optional<Located<uint32_t>> whole_number(const SourceText& text) {
  const std::string_view digits = text.view();
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return Located<uint32_t>{value, text.location()};
}

GpuRequest request_of(const std::vector<Accelerator>& alternatives) {
  GpuRequest gpu;
  if (alternatives.empty()) return gpu;
  const Accelerator& first = alternatives.front();
  if (alternatives.size() == 1 && !first.name.empty()) {
    gpu.name = {first.name.str(), first.name.location()};
  }
  if (alternatives.size() > 1) {
    gpu.chosen_once = true;
    for (const Accelerator& other : alternatives) {
      if (!other.name.empty()) gpu.choices.push_back({other.name.str(), other.name.location()});
    }
  }
  const bool agree =
      std::all_of(alternatives.begin(), alternatives.end(), [&](const Accelerator& other) {
        return first.count && other.count && first.count->value == other.count->value;
      });
  if (agree) gpu.count = first.count;
  return gpu;
}

EnvVar platform_variable(std::string name, const std::optional<Located<uint32_t>>& number) {
  EnvVar variable{SourceText(std::move(name)), SourceText(), number.has_value()};
  if (!number) return variable;
  const std::string digits = std::to_string(number->value);
  const Location where = number->where;
  const bool written =
      where &&
      where.file->bytes().substr(where.range.begin, where.range.end - where.range.begin) == digits;
  variable.value = written ? SourceText(*where.file, where.range) : SourceText(digits);
  return variable;
}

}  // namespace kvbudget
