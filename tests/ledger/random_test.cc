// Random histories: the ledger answers as the plain reference does, and what it promises holds.
// KVB_LEDGER_EVENTS sets their number.
#include <cstdlib>
#include <random>

#include "plugin/ledger/ledger.h"
#include "tests/ledger/reference.h"
#include "tests/support/catch.h"

using namespace kvbudget;
using ledger::Answer;

namespace {

uint64_t events_wanted() {
  const char* given = std::getenv("KVB_LEDGER_EVENTS");
  return given == nullptr ? 10'000'000 : std::strtoull(given, nullptr, 10);
}

struct History {
  explicit History(uint32_t seed) : random(seed), limits(limits_of(random)) {}

  uint64_t below(uint64_t end) {
    return std::uniform_int_distribution<uint64_t>(0, end - 1)(random);
  }

  static ledger::Limits limits_of(std::mt19937& random) {
    ledger::Limits limits;
    limits.capacity_blocks = 50 + random() % 200;
    limits.budget_blocks = limits.capacity_blocks - random() % 40;
    limits.mode = random() % 2 == 0 ? ledger::Mode::kStrict : ledger::Mode::kOptimistic;
    limits.max_requests = 24 + random() % 16;
    limits.max_pending = random() % 3 == 0 ? 0 : 4 + random() % 16;
    limits.max_hold_seconds = random() % 2 == 0 ? 0.0 : 40.0;
    limits.max_tenants = 5;
    return limits;
  }

  std::mt19937 random;
  ledger::Limits limits;
  double now = 0.0;
};

/// The ledger and its reference side by side, through the same events.
class Pair {
 public:
  explicit Pair(uint32_t seed) : history_(seed), ours_(history_.limits), plain_(history_.limits) {}

  void event() {
    history_.now += static_cast<double>(history_.below(4));
    switch (history_.below(16)) {
      case 0:
        return tenant();
      case 1:
        return budget();
      case 2:
        return reconcile();
      case 3:
        return resize();
      case 4:
      case 5:
        return promote();
      case 6:
        return reject();
      case 7:
      case 8:
      case 9:
      case 10:
        return release();
      default:
        return admit();
    }
  }

  void check() const {
    const ledger::Statistics s = ours_.statistics();
    CHECK(static_cast<int64_t>(s.reserved_blocks) == plain_.reserved());
    CHECK(static_cast<int64_t>(s.late_blocks) == plain_.late());
    CHECK(s.pending == plain_.pending());
    CHECK(s.admitted == plain_.admitted());
    for (const test::ReferenceLedger::Item& item : plain_.items()) {
      CHECK(ours_.state_of(item.key) == (item.held ? Answer::kHold : Answer::kAdmit));
    }
  }

  // Every answer so far, folded into one number.
  uint64_t digest() const { return digest_; }

 private:
  void fold(uint64_t value) { digest_ = (digest_ ^ value) * 0x100000001B3; }

  uint64_t some_key() { return history_.below(60); }

  void within_budget(uint64_t added) {
    if (added > 0) {
      REQUIRE(plain_.reserved() + plain_.late() <= plain_.budget());
    }
  }

  void admit() {
    const uint64_t key = some_key();
    const auto tenant = static_cast<uint32_t>(history_.below(tenants_ + 1));
    const uint64_t blocks = 1 + history_.below(history_.below(8) == 0 ? 260 : 40);
    const auto priority = static_cast<int32_t>(history_.below(4) == 0 ? history_.below(3) : 0);
    const ledger::Decision got = ours_.admit(key, tenant, blocks, priority, history_.now);
    const ledger::Decision wanted = plain_.admit(key, tenant, blocks, priority, history_.now);
    REQUIRE(got.answer == wanted.answer);
    REQUIRE(got.reason == wanted.reason);
    within_budget(got.answer == Answer::kAdmit ? 1 : 0);
    fold(static_cast<uint64_t>(got.answer) * 16 + static_cast<uint64_t>(got.reason));
  }

  void release() {
    const uint64_t key = some_key();
    ours_.release({&key, 1});
    plain_.release(key);
  }

  void promote() {
    std::vector<uint64_t> got(1 + history_.below(40));
    const size_t most = got.size();
    got.resize(ours_.promote(got, history_.now));
    REQUIRE(got == plain_.promote(most));
    within_budget(got.size());
    for (const uint64_t key : got) fold(key);
  }

  // Afterwards nothing waits in vain: an idle pool has nobody waiting before it.
  void reject() {
    std::vector<ledger::Rejected> got(64);
    got.resize(ours_.reject_stale(got, history_.now));
    const std::vector<ledger::Rejected> wanted = plain_.reject_stale(history_.now);
    REQUIRE(got.size() == wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      REQUIRE(got[i].key == wanted[i].key);
      REQUIRE(got[i].reason == wanted[i].reason);
      fold(got[i].key);
    }
    std::vector<uint64_t> keys(64);
    keys.resize(ours_.promote(keys, history_.now));
    REQUIRE(keys == plain_.promote(64));
    const ledger::Statistics s = ours_.statistics();
    REQUIRE((s.pending == 0 || s.admitted > 0 || s.late_blocks > 0));
  }

  void reconcile() {
    const uint64_t free = history_.below(history_.limits.capacity_blocks + 1);
    const uint64_t held =
        history_.below(2) == 0 ? history_.limits.capacity_blocks - free : history_.below(60);
    ours_.reconcile(free, held);
    plain_.reconcile(free, held);
  }

  void resize() {
    const uint64_t key = some_key();
    const uint64_t blocks = 1 + history_.below(history_.below(4) == 0 ? 260 : 30);
    REQUIRE(ours_.resize(key, blocks) == plain_.resize(key, blocks));
    std::vector<uint64_t> waiting(8);
    waiting.resize(ours_.next_held(waiting));
    REQUIRE(waiting == plain_.next_held());
  }

  void budget() {
    const uint64_t blocks = 20 + history_.below(history_.limits.capacity_blocks);
    REQUIRE(ours_.set_budget(blocks) == plain_.set_budget(blocks));
  }

  void tenant() {
    const auto index = static_cast<uint32_t>(history_.below(tenants_ < 5 ? tenants_ + 1 : 5));
    ledger::TenantLimits limits;
    limits.weight = 0.5 + static_cast<double>(history_.below(4));
    limits.min_blocks = history_.below(3) == 0 ? history_.below(30) : 0;
    limits.max_blocks = history_.below(2) == 0 ? UINT64_MAX : 30 + history_.below(100);
    const std::string name = index == 0 ? "default" : "t" + std::to_string(index);
    const bool got = ours_.tenant(name, limits) != UINT32_MAX;
    REQUIRE(got == plain_.set_tenant(index, limits));
    if (got && index == tenants_) ++tenants_;
  }

  History history_;
  ledger::Ledger ours_;
  test::ReferenceLedger plain_;
  uint32_t tenants_ = 1;
  uint64_t digest_ = 0xCBF29CE484222325;
};

}  // namespace

TEST_CASE("random histories give the answers of the plain reference and never deadlock") {
  constexpr uint64_t kEventsEach = 2'000;
  uint32_t seed = 1;
  for (uint64_t done = 0; done < events_wanted(); done += kEventsEach, ++seed) {
    INFO("seed " << seed);
    Pair pair(seed);
    for (uint64_t i = 0; i < kEventsEach; ++i) {
      pair.event();
      if (i % 64 == 0) pair.check();
    }
  }
}

TEST_CASE("the same events give the same answers") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    Pair first(seed);
    Pair second(seed);
    for (int i = 0; i < 1'000; ++i) {
      first.event();
      second.event();
    }
    CHECK(first.digest() == second.digest());
  }
}
