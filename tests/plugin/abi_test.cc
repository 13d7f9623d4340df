// The C interface as callers meet it: the shared library, null pointers, structs of other releases.
#include <sys/wait.h>
#include <unistd.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "plugin/include/kvbudget.h"
#include "tests/support/catch.h"

extern "C" int kvb_test_c99_burst(void);

namespace {

struct Open {
  explicit Open(uint64_t blocks) {
    kvb_limits limits = {};
    limits.struct_size = sizeof limits;
    limits.mode = KVB_STRICT;
    limits.capacity_blocks = limits.budget_blocks = blocks;
    limits.max_requests = 100;
    REQUIRE(kvb_ledger_open(&limits, &ledger) == KVB_OK);
  }
  ~Open() { kvb_ledger_close(ledger); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  kvb_ledger* ledger = nullptr;
};

kvb_statistics statistics() {
  kvb_statistics s = {};
  s.struct_size = sizeof s;
  return s;
}

std::string segment_name(const char* what) {
  return "/kvbudget-test-" + std::to_string(getpid()) + "-" + what;
}

}  // namespace

TEST_CASE("a C99 caller admits and releases") { CHECK(kvb_test_c99_burst() == 0); }

TEST_CASE("requests are admitted, held, promoted and refused through the C interface") {
  const Open open(100);
  uint32_t answer = 9;
  uint32_t reason = 9;
  CHECK(kvb_request_admit(open.ledger, 1, 0, 80, 0, 1.0, &answer, &reason) == KVB_OK);
  CHECK(answer == KVB_ADMIT);
  CHECK(kvb_request_admit(open.ledger, 2, 0, 80, 0, 2.0, &answer, &reason) == KVB_OK);
  CHECK(answer == KVB_HOLD);
  CHECK(kvb_request_admit(open.ledger, 3, 0, 101, 0, 2.0, &answer, &reason) == KVB_OK);
  CHECK(answer == KVB_NEVER);
  CHECK(std::string(kvb_reason_text(reason)) == "above_budget");
  const uint64_t gone = 1;
  CHECK(kvb_requests_release(open.ledger, &gone, 1) == KVB_OK);
  uint64_t keys[4] = {};
  size_t count = 0;
  CHECK(kvb_requests_promote(open.ledger, 5.0, keys, 4, &count) == KVB_OK);
  REQUIRE(count == 1);
  CHECK(keys[0] == 2);
  kvb_statistics s = statistics();
  CHECK(kvb_statistics_get(open.ledger, &s) == KVB_OK);
  CHECK(s.reserved_blocks == 80);
  CHECK(s.hold_seconds_total == 3.0);
}

TEST_CASE("what cannot be is refused by a status") {
  kvb_ledger* none = nullptr;
  kvb_limits limits = {};
  CHECK(kvb_ledger_open(nullptr, &none) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_ledger_open(&limits, &none) == KVB_INVALID_ARGUMENT);  // struct_size 0
  limits.struct_size = sizeof limits;
  limits.mode = 7;
  CHECK(kvb_ledger_open(&limits, &none) == KVB_INVALID_ARGUMENT);
  limits.mode = KVB_STRICT;
  limits.max_hold_seconds = std::numeric_limits<double>::quiet_NaN();
  CHECK(kvb_ledger_open(&limits, &none) == KVB_INVALID_ARGUMENT);
  CHECK(none == nullptr);
  kvb_ledger_close(nullptr);
  CHECK(kvb_requests_release(nullptr, nullptr, 0) == KVB_INVALID_ARGUMENT);

  const Open open(10);
  kvb_tenant_limits tenant = {sizeof(kvb_tenant_limits), 0, 0.0, 0, 5};
  uint32_t index = 0;
  CHECK(kvb_tenant_set(open.ledger, "a", 1, &tenant, &index) == KVB_INVALID_ARGUMENT);
  CHECK_FALSE(std::string(kvb_ledger_error(open.ledger)).empty());
  kvb_tenant_state state = {};
  state.struct_size = sizeof state;
  CHECK(kvb_tenant_get(open.ledger, 5, &state) == KVB_NOT_FOUND);
  CHECK(kvb_request_resize(open.ledger, 1, 1) == KVB_NOT_FOUND);
  CHECK(kvb_snapshot_publish(open.ledger) == KVB_INVALID_ARGUMENT);
  CHECK(kvb_blocks_needed(nullptr, 1, 1, 1, 0, 0, 0, 0) == UINT64_MAX);
}

TEST_CASE("any arguments leave the ledger whole") {
  const Open open(1'000);
  std::mt19937_64 random(1);
  const auto odd = [&]() -> uint64_t {
    const uint64_t values[] = {0, 1, 2, 50, UINT32_MAX, UINT64_MAX, random() % 200};
    return values[random() % 7];
  };
  std::vector<uint64_t> keys(8);
  std::vector<kvb_rejected> rejected(8);
  for (int i = 0; i < 200'000; ++i) {
    uint32_t out = 0;
    size_t count = 0;
    for (uint64_t& key : keys) key = odd();
    switch (random() % 10) {
      case 0:
        kvb_request_admit(open.ledger, odd(), static_cast<uint32_t>(odd()), odd(),
                          static_cast<int32_t>(odd()), static_cast<double>(odd()), &out, nullptr);
        break;
      case 1:
        kvb_requests_release(open.ledger, keys.data(), random() % 9);
        break;
      case 2:
        kvb_requests_promote(open.ledger, 0.0, keys.data(), random() % 9, &count);
        break;
      case 3:
        kvb_requests_reject(open.ledger, 0.0, rejected.data(), random() % 9, &count);
        break;
      case 4:
        kvb_ledger_reconcile(open.ledger, odd(), odd());
        break;
      case 5:
        kvb_budget_set(open.ledger, odd());
        break;
      case 6:
        kvb_capacity_set(open.ledger, odd());
        break;
      case 7: {
        const kvb_tenant_limits limits = {sizeof(kvb_tenant_limits), 0, static_cast<double>(odd()),
                                          odd(), odd()};
        const std::string name(random() % 70, 'x');
        kvb_tenant_set(open.ledger, name.data(), name.size(), &limits, &out);
        break;
      }
      case 8:
        kvb_requests_next_held(open.ledger, keys.data(), random() % 9, &count);
        break;
      default:
        kvb_request_resize(open.ledger, odd(), random() % 300);
        break;
    }
  }
  kvb_statistics s = statistics();
  REQUIRE(kvb_statistics_get(open.ledger, &s) == KVB_OK);
  CHECK(s.admitted + s.pending <= 100);
}

TEST_CASE("another process reads the figures while they change") {
  const Open open(1'000'000);
  const std::string name = segment_name("torn");
  REQUIRE(kvb_snapshot_create(open.ledger, name.c_str()) == KVB_OK);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Every admission takes 3 blocks, so that a torn reading would not be a multiple of 3.
    int code = 0;
    for (int i = 0; i < 20'000 && code == 0; ++i) {
      kvb_statistics s = statistics();
      const kvb_status status = kvb_snapshot_read(name.c_str(), &s, nullptr, nullptr, nullptr);
      if (status == KVB_OK && s.reserved_blocks != 3 * s.admitted) code = 1;
    }
    _exit(code);
  }
  uint64_t key = 0;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    uint32_t answer = 0;
    kvb_request_admit(open.ledger, ++key % 90, 0, 3, 0, 0.0, &answer, nullptr);
    if (key % 3 == 0) kvb_requests_release(open.ledger, &key, 1);
    kvb_snapshot_publish(open.ledger);
  }
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("segments have one living writer and go away with it") {
  const std::string name = segment_name("life");
  {
    const Open first(10);
    const Open second(10);
    REQUIRE(kvb_snapshot_create(first.ledger, name.c_str()) == KVB_OK);
    CHECK(kvb_snapshot_create(second.ledger, name.c_str()) == KVB_SHARED_MEMORY);
    const kvb_tenant_limits limits = {sizeof(kvb_tenant_limits), 0, 1.0, 2, 5};
    uint32_t index = 0;
    REQUIRE(kvb_tenant_set(first.ledger, "team-a", 6, &limits, &index) == KVB_OK);
    REQUIRE(kvb_snapshot_publish(first.ledger) == KVB_OK);
    kvb_statistics s = statistics();
    kvb_tenant_state tenants[4] = {};
    size_t count = 4;
    uint64_t pid = 0;
    REQUIRE(kvb_snapshot_read(name.c_str(), &s, tenants, &count, &pid) == KVB_OK);
    REQUIRE(count == 2);
    CHECK(std::string(tenants[1].name) == "team-a");
    CHECK(tenants[1].max_blocks == 5);
    CHECK(pid == static_cast<uint64_t>(getpid()));
  }
  kvb_statistics s = statistics();
  CHECK(kvb_snapshot_read(name.c_str(), &s, nullptr, nullptr, nullptr) == KVB_NOT_FOUND);
}

TEST_CASE("a segment whose writer died is taken over") {
  const std::string name = segment_name("dead");
  const pid_t child = fork();
  if (child == 0) {
    kvb_limits limits = {};
    limits.struct_size = sizeof limits;
    kvb_ledger* ledger = nullptr;
    kvb_ledger_open(&limits, &ledger);
    kvb_snapshot_create(ledger, name.c_str());
    _exit(0);  // without closing
  }
  int status = 0;
  waitpid(child, &status, 0);
  kvb_statistics s = statistics();
  REQUIRE(kvb_snapshot_read(name.c_str(), &s, nullptr, nullptr, nullptr) == KVB_OK);
  const Open open(10);
  CHECK(kvb_snapshot_create(open.ledger, name.c_str()) == KVB_OK);
}

TEST_CASE("what the engine says of itself goes out with the snapshot") {
  const std::string name = segment_name("engine");
  const Open open(100);
  kvb_engine said = {};
  said.struct_size = sizeof said;
  said.mode = KVB_ENGINE_OBSERVE;
  said.group_count = KVB_MAX_GROUPS;
  said.groups[KVB_MAX_GROUPS - 1] = {KVB_GROUP_BOUNDED, 16, 7};
  said.concurrency_lost = 1.5;
  REQUIRE(kvb_engine_set(open.ledger, &said) == KVB_OK);
  said.group_count = KVB_MAX_GROUPS + 1;
  CHECK(kvb_engine_set(open.ledger, &said) == KVB_INVALID_ARGUMENT);
  said.struct_size = 8;
  CHECK(kvb_engine_set(open.ledger, &said) == KVB_INVALID_ARGUMENT);
  REQUIRE(kvb_snapshot_create(open.ledger, name.c_str()) == KVB_OK);
  kvb_engine read = {};
  CHECK(kvb_snapshot_engine(name.c_str(), &read) == KVB_INVALID_ARGUMENT);
  read.struct_size = sizeof read;
  REQUIRE(kvb_snapshot_engine(name.c_str(), &read) == KVB_OK);
  CHECK(read.mode == KVB_ENGINE_OBSERVE);
  CHECK(read.groups[KVB_MAX_GROUPS - 1].most_blocks == 7);
  CHECK(read.concurrency_lost == 1.5);
  CHECK(kvb_snapshot_close(open.ledger) == KVB_OK);
  CHECK(kvb_snapshot_engine(name.c_str(), &read) == KVB_NOT_FOUND);
}

TEST_CASE("a ledger closed late takes no segment of another away") {
  const std::string name = segment_name("late");
  const Open second(10);
  {
    const Open first(10);
    REQUIRE(kvb_snapshot_create(first.ledger, name.c_str()) == KVB_OK);
    REQUIRE(kvb_snapshot_close(first.ledger) == KVB_OK);
    REQUIRE(kvb_snapshot_create(second.ledger, name.c_str()) == KVB_OK);
  }
  kvb_statistics s = statistics();
  CHECK(kvb_snapshot_read(name.c_str(), &s, nullptr, nullptr, nullptr) == KVB_OK);
}

TEST_CASE("rejections, promotions and the longest wait are told") {
  const Open open(10);
  uint32_t answer = 0;
  const auto admit = [&](uint64_t key, uint64_t blocks, double now) {
    REQUIRE(kvb_request_admit(open.ledger, key, 0, blocks, 0, now, &answer, nullptr) == KVB_OK);
  };
  const auto now = [&] {
    kvb_statistics s = statistics();
    REQUIRE(kvb_statistics_get(open.ledger, &s) == KVB_OK);
    return s;
  };
  admit(1, 10, 1.0);
  CHECK(now().oldest_since == 0.0);
  admit(2, 10, 2.0);
  admit(3, 10, 3.0);
  admit(4, 11, 4.0);
  CHECK(now().oldest_since == 2.0);
  CHECK(now().rejected_for[1] == 1);
  CHECK(std::string(kvb_reason_text(1)) == "above_budget");
  const uint64_t gone = 1;
  REQUIRE(kvb_requests_release(open.ledger, &gone, 1) == KVB_OK);
  uint64_t keys[4] = {};
  size_t count = 0;
  REQUIRE(kvb_requests_promote(open.ledger, 5.0, keys, 4, &count) == KVB_OK);
  CHECK(now().promoted_total == 1);
  CHECK(now().oldest_since == 3.0);
  kvb_tenant_state state = {};
  state.struct_size = sizeof state;
  REQUIRE(kvb_tenant_get(open.ledger, 0, &state) == KVB_OK);
  CHECK(state.most_blocks == 10);
}
