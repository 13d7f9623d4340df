// Text files compiled into the program; kvb_embed (cmake/kvb.cmake) writes the definitions.
#pragma once

#include <span>
#include <string_view>

namespace kvbudget::embedded {

struct File {
  std::string_view name;  ///< file name without folders
  std::string_view text;
};

}  // namespace kvbudget::embedded
