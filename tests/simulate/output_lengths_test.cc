#include "plugin/ledger/output_lengths.h"

#include "tests/support/catch.h"

using kvbudget::ledger::OutputLengths;

TEST_CASE("all of max_tokens is assumed until enough answers were seen") {
  OutputLengths lengths;
  for (int i = 0; i < 31; ++i) lengths.add(10);
  CHECK(lengths.assumed(1'000) == 1'000);
  lengths.add(10);
  CHECK(lengths.assumed(1'000) == 10);
  CHECK(lengths.assumed(4) == 4);
}

TEST_CASE("preemptions raise what is assumed and answers lower it again") {
  OutputLengths lengths;
  for (int i = 0; i < 1'000; ++i) lengths.add(i % 2 == 0 ? 8 : 512);
  CHECK(lengths.assumed(4'096) == 8);
  for (int i = 0; i < 100; ++i) lengths.preempted();
  const uint64_t after = lengths.assumed(4'096);
  CHECK(after >= 512);
  CHECK(after <= 512 * 9 / 8);
  for (int i = 0; i < 200'000; ++i) lengths.add(i % 2 == 0 ? 8 : 512);
  CHECK(lengths.assumed(4'096) == 8);
}

TEST_CASE("any length has a bucket") {
  OutputLengths lengths;
  for (int i = 0; i < 64; ++i) lengths.add(UINT64_MAX);
  CHECK(lengths.assumed(77) == 77);
}
