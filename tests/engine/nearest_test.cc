#include "lint/engine/nearest.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

// The definition, cell by cell.
size_t plain_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::string_view a1 = a.substr(1), b1 = b.substr(1);
  size_t edits = plain_distance(a1, b1) + (a[0] == b[0] ? 0 : 1);
  edits = std::min({edits, plain_distance(a1, b) + 1, plain_distance(a, b1) + 1});
  if (a.size() < 2 || b.size() < 2 || a[0] != b[1] || a[1] != b[0]) return edits;
  return std::min(edits, plain_distance(a.substr(2), b.substr(2)) + 1);
}

}  // namespace

TEST_CASE("the nearest word is the one a typo was meant to be") {
  const std::vector<std::string_view> known{"lint", "inspect", "estimate", "rules"};
  CHECK(nearest("lnit", known) == "lint");
  CHECK(nearest("Estimat", known) == "estimate");
  CHECK(nearest("insepct", known) == "inspect");
  CHECK(nearest("banana", known).empty());
  CHECK(nearest("x", known).empty());
  CHECK(nearest("", known).empty());
}

TEST_CASE("a name whose one word is quite another is no typo") {
  CHECK(nearest("max-seq-len", {"max-log-len", "max-loras"}).empty());
  CHECK(nearest("max-sqe-len", {"max-log-len", "max-seq-len"}) == "max-seq-len");
  CHECK(nearest("gpu_mem_use", {"gpu_memory_use"}) == "gpu_memory_use");
}

TEST_CASE("the hint names the nearest word or says where to look") {
  CHECK(did_you_mean("jsn", {"text", "json"}, "expected text") == "; did you mean 'json'?");
  CHECK(did_you_mean("sarif", {"text", "json"}, "expected text") == "; expected text");
}

TEST_CASE("a word that no name is as long as has no neighbour") {
  CHECK(nearest(std::string(1'000'000, 'x'), {"x", "L4"}).empty());
}

TEST_CASE("the nearest word is the one that the whole table of edits finds") {
  // Every word of up to four letters of two, against all others.
  std::vector<std::string> words;
  for (size_t letters = 1; letters <= 4; ++letters) {
    for (unsigned bits = 0; bits < 1U << letters; ++bits) {
      std::string word;
      for (size_t i = 0; i < letters; ++i) word += (bits >> i & 1U) != 0 ? 'a' : 'b';
      words.push_back(word);
    }
  }
  for (const std::string& word : words) {
    CHECK(nearest(word, {words.begin(), words.end()}) == word);
    for (const std::string& other : words) {
      const size_t limit = word.size() / 3 + 2;
      INFO(word << " and " << other);
      CHECK(nearest(word, {other}).empty() == (plain_distance(word, other) >= limit));
    }
  }
}
