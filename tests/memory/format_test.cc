#include "lint/memory/format.h"

#include "lint/memory/bytes.h"
#include "tests/support/catch.h"

using namespace kvbudget::memory;

TEST_CASE("bytes are shown in GiB of 2^30 with two decimals") {
  CHECK(gib_text(uint64_t{0}) == "0.00 GiB");
  CHECK(gib_text(16 * kGiB) == "16.00 GiB");
  CHECK(gib_text(kGiB * 3 / 2 + kGiB / 100) == "1.51 GiB");
  CHECK(gib_text(UINT64_MAX) == "17179869184.00 GiB");
  CHECK(gib_text(-static_cast<int64_t>(kGiB)) == "-1.00 GiB");
  CHECK(gib_text(int64_t{-1}) == "0.00 GiB");
}

TEST_CASE("thousands are set off by commas") {
  CHECK(with_commas(7) == "7");
  CHECK(with_commas(131072) == "131,072");
  CHECK(with_commas(18446744073709551615ULL) == "18,446,744,073,709,551,615");
}

TEST_CASE("decimals drop trailing zeros and keep leading ones") {
  CHECK(decimal_text(0.9, 3) == "0.9");
  CHECK(decimal_text(0.05, 2) == "0.05");
  CHECK(decimal_text(1.0, 2) == "1");
  CHECK(decimal_text(-0.25, 2) == "-0.25");
}
