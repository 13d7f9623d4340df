#include "plugin/ledger/ledger.h"

#include "tests/support/catch.h"

using namespace kvbudget::ledger;

namespace {

Limits pool_of(uint64_t blocks) {
  Limits limits;
  limits.capacity_blocks = limits.budget_blocks = blocks;
  limits.max_requests = 64;
  return limits;
}

Answer admit(Ledger& ledger, uint64_t key, uint64_t blocks, uint32_t tenant = 0,
             int32_t priority = 0) {
  return ledger.admit(key, tenant, blocks, priority, 0.0).answer;
}

void release(Ledger& ledger, uint64_t key) { ledger.release({&key, 1}); }

std::vector<uint64_t> promote(Ledger& ledger) {
  std::vector<uint64_t> keys(64);
  keys.resize(ledger.promote(keys, 0.0));
  return keys;
}

using Keys = std::vector<uint64_t>;

}  // namespace

TEST_CASE("a request is admitted while the blocks of whole lives fit, then held") {
  Ledger ledger(pool_of(100));
  CHECK(admit(ledger, 1, 60) == Answer::kAdmit);
  CHECK(admit(ledger, 2, 40) == Answer::kAdmit);
  CHECK(admit(ledger, 3, 1) == Answer::kHold);
  CHECK(promote(ledger).empty());
  release(ledger, 2);
  CHECK(promote(ledger) == Keys{3});
  CHECK(ledger.statistics().reserved_blocks == 61);
}

TEST_CASE("a request that no empty pool holds is refused with the reason") {
  Ledger ledger(pool_of(100));
  const uint32_t small = ledger.tenant("small", {1.0, 0, 10});
  const uint32_t safe = ledger.tenant("safe", {1.0, 30, 100});
  CHECK(ledger.admit(1, 0, 101, 0, 0.0).reason == Reason::kAboveBudget);
  CHECK(ledger.admit(2, small, 11, 0, 0.0).reason == Reason::kAboveTenantMax);
  CHECK(ledger.admit(3, 0, 71, 0, 0.0).reason == Reason::kAboveTenantShare);
  CHECK(ledger.admit(4, safe, 71, 0, 0.0).answer == Answer::kAdmit);
  CHECK(ledger.admit(4, safe, 1, 0, 0.0).reason == Reason::kKnownKey);
  CHECK(ledger.admit(5, 9, 1, 0, 0.0).reason == Reason::kUnknownTenant);
}

TEST_CASE("a large request is not overtaken by small ones that came later") {
  Ledger ledger(pool_of(100));
  CHECK(admit(ledger, 1, 60) == Answer::kAdmit);
  CHECK(admit(ledger, 2, 80) == Answer::kHold);
  CHECK(admit(ledger, 3, 10) == Answer::kHold);
  CHECK(promote(ledger).empty());
  release(ledger, 1);
  CHECK(promote(ledger) == Keys{2, 3});
}

TEST_CASE("smaller priorities go first and equal ones in order of arrival") {
  Ledger ledger(pool_of(10));
  CHECK(admit(ledger, 1, 10) == Answer::kAdmit);
  admit(ledger, 2, 2, 0, 5);
  admit(ledger, 3, 2, 0, 1);
  admit(ledger, 4, 2, 0, 5);
  admit(ledger, 5, 2, 0, 1);
  release(ledger, 1);
  CHECK(promote(ledger) == Keys{3, 5, 2, 4});
}

TEST_CASE("waiting tenants share by weight") {
  Ledger ledger(pool_of(90));
  const uint32_t heavy = ledger.tenant("heavy", {2.0, 0, UINT64_MAX});
  const uint32_t light = ledger.tenant("light", {1.0, 0, UINT64_MAX});
  admit(ledger, 1, 90);
  for (uint64_t key = 100; key < 120; ++key) admit(ledger, key, 10, heavy);
  for (uint64_t key = 200; key < 220; ++key) admit(ledger, key, 10, light);
  release(ledger, 1);
  CHECK(promote(ledger).size() == 9);
  CHECK(ledger.tenants()[heavy].reserved_blocks == 60);
  CHECK(ledger.tenants()[light].reserved_blocks == 30);
}

TEST_CASE("a minimum stays its tenant's in strict mode and is lent in optimistic mode") {
  for (const Mode mode : {Mode::kStrict, Mode::kOptimistic}) {
    Limits limits = pool_of(100);
    limits.mode = mode;
    Ledger ledger(limits);
    const uint32_t owner = ledger.tenant("owner", {1.0, 40, 100});
    CHECK(admit(ledger, 1, 60) == Answer::kAdmit);
    CHECK(admit(ledger, 2, 30) == (mode == Mode::kStrict ? Answer::kHold : Answer::kAdmit));
    CHECK(admit(ledger, 3, 40, owner) == (mode == Mode::kStrict ? Answer::kAdmit : Answer::kHold));
    if (mode == Mode::kStrict) continue;
    release(ledger, 2);
    CHECK(promote(ledger) == Keys{3});
  }
}

TEST_CASE("blocks that the engine frees late are charged until they are free") {
  Ledger ledger(pool_of(100));
  CHECK(admit(ledger, 1, 50) == Answer::kAdmit);
  ledger.reconcile(20, 50);
  CHECK(ledger.statistics().late_blocks == 30);
  CHECK(admit(ledger, 2, 30) == Answer::kHold);
  ledger.reconcile(50, 50);
  CHECK(promote(ledger) == Keys{2});
}

TEST_CASE("the budget moves while requests run") {
  Ledger ledger(pool_of(100));
  CHECK(admit(ledger, 1, 80) == Answer::kAdmit);
  CHECK(admit(ledger, 2, 70) == Answer::kHold);
  CHECK(ledger.set_budget(50));
  std::vector<Rejected> rejected(8);
  REQUIRE(ledger.reject_stale(rejected, 0.0) == 1);
  CHECK(rejected[0].key == 2);
  CHECK(rejected[0].reason == Reason::kAboveBudget);
  CHECK(ledger.state_of(1) == Answer::kAdmit);
  CHECK(admit(ledger, 3, 20) == Answer::kHold);
  CHECK(ledger.set_budget(100));
  CHECK(promote(ledger) == Keys{3});
  ledger.tenant("owner", {1.0, 60, 100});
  CHECK_FALSE(ledger.set_budget(59));
}

TEST_CASE("limits on waiting are kept") {
  Limits limits = pool_of(10);
  limits.max_pending = 1;
  limits.max_hold_seconds = 5.0;
  Ledger ledger(limits);
  admit(ledger, 1, 10);
  CHECK(admit(ledger, 2, 1) == Answer::kHold);
  CHECK(ledger.admit(3, 0, 1, 0, 1.0).reason == Reason::kPendingFull);
  std::vector<Rejected> rejected(8);
  CHECK(ledger.reject_stale(rejected, 4.9) == 0);
  REQUIRE(ledger.reject_stale(rejected, 5.0) == 1);
  CHECK(rejected[0].reason == Reason::kHeldTooLong);
  CHECK(ledger.statistics().pending == 0);
}

TEST_CASE("releasing twice, or what was never there, changes nothing") {
  Ledger ledger(pool_of(10));
  admit(ledger, 1, 4);
  release(ledger, 1);
  release(ledger, 1);
  release(ledger, 77);
  CHECK(ledger.statistics().reserved_blocks == 0);
  CHECK(ledger.statistics().released_total == 1);
}

TEST_CASE("limits that cannot work are named") {
  Limits limits = pool_of(10);
  limits.max_requests = 0;
  CHECK(Ledger::problem_with(limits) == "max_requests is 0; expected 1 to 16777216");
  CHECK(Ledger::problem_with(pool_of(10)).empty());
}
