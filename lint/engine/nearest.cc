// Names have words: one word that is quite another ("log" for "seq") is no typo, however few
// letters it has. A file may have thousands of names to look up, so that candidates which cannot
// win are left early.
#include "lint/engine/nearest.h"

#include <algorithm>
#include <array>

namespace kvbudget {

namespace {

constexpr size_t kLongest = 256;  // the table of edits would not end, and no name is that long

using Row = std::array<size_t, kLongest + 1>;

// Of ASCII, which names are made of; std::tolower would be most of the time spent here.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Edits (insert, delete, replace, swap of neighbours) from `a` to `b`, or `limit` when there are as
// many or more. Three rows of the usual table are enough to see a swap, and of each row the cells
// less than `limit` away from the diagonal.
size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
  const size_t apart = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (apart >= limit || b.size() > kLongest) return limit;
  Row rows[3];
  for (Row& row : rows) std::fill_n(row.begin(), b.size() + 1, limit);
  Row *before = &rows[0], *above = &rows[1], *row = &rows[2];
  for (size_t j = 0; j <= std::min(b.size(), limit); ++j) (*above)[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t first = i > limit ? i - limit : 1;
    const size_t last = std::min(i + limit - 1, b.size());
    (*row)[first - 1] = first == 1 ? i : limit;
    if (last < b.size()) (*row)[last + 1] = limit;
    const char at = lower(a[i - 1]);
    for (size_t j = first; j <= last; ++j) {
      const char to = lower(b[j - 1]);
      size_t edits = std::min((*above)[j], (*row)[j - 1]) + 1;
      edits = std::min(edits, (*above)[j - 1] + (at == to ? 0 : 1));
      const bool swapped = i > 1 && j > 1 && at == lower(b[j - 2]) && lower(a[i - 2]) == to;
      if (swapped) edits = std::min(edits, (*before)[j - 2] + 1);
      (*row)[j] = edits;
    }
    Row* const oldest = before;
    before = above;
    above = row;
    row = oldest;
  }
  return std::min((*above)[b.size()], limit);
}

std::string_view next_word(std::string_view& text) {
  const size_t end = std::min(text.find_first_of("-_."), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

bool could_be_a_typo(std::string_view written, std::string_view meant) {
  if (written.starts_with(meant) || meant.starts_with(written)) return true;  // "mem", "memory"
  const size_t letters = std::max(written.size(), meant.size());
  const size_t most = std::max<size_t>(letters / 2, 1);
  return edit_distance(written, meant, most + 1) <= most;
}

// Names of as many words are compared word by word.
bool replaces_a_word(std::string_view written, std::string_view meant) {
  const auto breaks = [](std::string_view text) {
    return std::count_if(text.begin(), text.end(),
                         [](char c) { return c == '-' || c == '_' || c == '.'; });
  };
  if (breaks(written) == 0 || breaks(written) != breaks(meant)) return false;
  while (!written.empty() && !meant.empty()) {
    if (!could_be_a_typo(next_word(written), next_word(meant))) return true;
  }
  return false;
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = word.size() / 3 + 2;  // one edit in a short word, more in a long one
  for (const std::string_view candidate : known) {
    const size_t distance = edit_distance(word, candidate, best_distance);
    if (distance >= best_distance || replaces_a_word(word, candidate)) continue;
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
