#include "plugin/ledger/reservation.h"

#include <vector>

#include "tests/support/catch.h"

using namespace kvbudget::ledger;

namespace {

uint64_t blocks(const std::vector<Group>& groups, uint64_t prompt, uint64_t output,
                uint64_t max_model_len = 0, bool partial = false) {
  return request_blocks(groups, {prompt, output, 0, 0}, max_model_len, partial);
}

}  // namespace

TEST_CASE("full attention reserves every token and the one to be sampled") {
  const std::vector<Group> full = {{GroupKind::kFull, 16, 0}};
  CHECK(blocks(full, 10, 5) == 1);
  CHECK(blocks(full, 10, 6) == 2);
  CHECK(blocks(full, 100, 1000, 512) == 32);
  CHECK(blocks(full, 100, 1000, 512, true) == 33);
  CHECK(request_blocks(full, {10, 5, 4, 0}, 0, false) == 2);
}

TEST_CASE("windows stop growing and state does not grow") {
  const std::vector<Group> groups = {
      {GroupKind::kFull, 16, 0}, {GroupKind::kBounded, 16, 5}, {GroupKind::kState, 2096, 2}};
  CHECK(blocks(groups, 10, 5) == 1 + 1 + 2);
  CHECK(blocks(groups, 1000, 599) == 100 + 5 + 2);
}

TEST_CASE("cross attention reserves the encoder's tokens") {
  const std::vector<Group> groups = {{GroupKind::kFull, 16, 0}, {GroupKind::kCross, 16, 0}};
  CHECK(request_blocks(groups, {10, 5, 0, 1500}, 448, false) == 1 + 94);
}

TEST_CASE("sizes beyond all sense do not wrap around") {
  const std::vector<Group> groups = {{GroupKind::kFull, 1, 0}, {GroupKind::kFull, 1, 0}};
  CHECK(blocks(groups, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
  CHECK(blocks({{GroupKind::kFull, 0, 0}}, 3, 0) == 4);
}
