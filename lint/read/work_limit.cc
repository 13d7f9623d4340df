#include "lint/read/readers.h"

namespace kvbudget {

bool WorkLimit::spend(uint64_t bytes) {
  const bool enough = bytes <= bytes_;
  bytes_ = enough ? bytes_ - bytes : 0;
  return enough;
}

bool WorkLimit::spend_on(const Node& node) {
  constexpr uint64_t kNodeBytes = 64;
  if (!spend(kNodeBytes + node.text.size())) return false;
  for (const NodePtr& item : node.items) {
    if (!spend_on(*item)) return false;
  }
  for (const Entry& entry : node.entries) {
    if (!spend_on(*entry.value)) return false;
  }
  return true;
}

}  // namespace kvbudget
