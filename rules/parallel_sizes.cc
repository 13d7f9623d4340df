#include "rules/parallel_sizes.h"

#include <algorithm>
#include <iterator>

namespace kvbudget {

bool sizes_are_known(const Deployment& d) {
  constexpr const char* kNames[] = {
      "tensor-parallel-size",     "pipeline-parallel-size",       "data-parallel-size",
      "data-parallel-size-local", "decode-context-parallel-size", "prefill-context-parallel-size"};
  return !d.settings.opaque_words &&
         std::all_of(std::begin(kNames), std::end(kNames), [&](const char* name) {
           const Setting* setting = d.settings.find(name);
           return setting == nullptr || (setting->known && d.settings.integer(name));
         });
}

}  // namespace kvbudget
