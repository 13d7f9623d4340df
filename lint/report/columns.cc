#include "lint/report/columns.h"

#include <algorithm>

namespace kvbudget {

std::string padded(std::string_view text, size_t width) {
  const auto columns = static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
  return std::string(text) + std::string(width > columns ? width - columns : 0, ' ');
}

}  // namespace kvbudget
