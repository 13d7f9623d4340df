#include "lint/engine/nearest.h"

#include <algorithm>
#include <cctype>

namespace kvbudget {

namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Edits (insert, delete, replace, swap of neighbours) from `a` to `b`: three rows of the usual
// table are enough to see a swap.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr size_t kLongest = 256;  // the table of edits would not end, and no name is that long
  if (word.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = word.size() / 3 + 2;  // one edit in a short word, more in a long one
  for (const std::string_view candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known,
                         std::string_view otherwise) {
  const std::string_view best = nearest(word, known);
  if (best.empty()) return "; " + std::string(otherwise);
  return "; did you mean '" + std::string(best) + "'?";
}

}  // namespace kvbudget
