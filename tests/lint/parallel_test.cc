#include "lint/parallel.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("every index is worked on once, whatever the number of threads") {
  for (const unsigned threads : {0U, 1U, 3U, 16U}) {
    std::vector<std::atomic<int>> calls(1000);
    for_each_index(calls.size(), threads, [&](size_t i) { ++calls[i]; });
    for (const auto& count : calls) REQUIRE(count == 1);
  }
  for_each_index(0, 4, [](size_t) { FAIL("there is nothing to do"); });
}

TEST_CASE("a failure of one item is the caller's") {
  const auto fail = [](size_t i) {
    if (i == 7) throw std::runtime_error("seven");
  };
  CHECK_THROWS_AS(for_each_index(100, 4, fail), std::runtime_error);
}
