// Numbers as people read them: GiB with two decimals, thousands with commas. Pure, no locale.
#pragma once

#include <cstdint>
#include <string>

namespace kvbudget::memory {

std::string gib_text(uint64_t bytes);     ///< "16.00 GiB"
std::string gib_text(int64_t bytes);      ///< "-1.44 GiB"
std::string gib_number(int64_t bytes);    ///< "16.00"
std::string with_commas(uint64_t value);  ///< "131,072"
/// `value` with at most `decimals` digits, trailing zeros dropped: 0.9 -> "0.9".
std::string decimal_text(double value, int decimals);

}  // namespace kvbudget::memory
