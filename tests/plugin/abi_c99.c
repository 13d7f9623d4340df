/* The header is C99, and so are its callers: the burst that every example shows. */
#include "plugin/include/kvbudget.h"

int kvb_test_c99_burst(void);

int kvb_test_c99_burst(void) {
  kvb_limits limits = {0};
  kvb_ledger* ledger = NULL;
  uint32_t answer = 0;
  uint64_t key = 7;
  limits.struct_size = sizeof limits;
  limits.mode = KVB_STRICT;
  limits.capacity_blocks = limits.budget_blocks = 10;
  if (kvb_ledger_open(&limits, &ledger) != KVB_OK) return 1;
  if (kvb_request_admit(ledger, key, 0, 10, 0, 0.0, &answer, NULL) != KVB_OK) return 2;
  if (answer != KVB_ADMIT) return 3;
  if (kvb_requests_release(ledger, &key, 1) != KVB_OK) return 4;
  kvb_ledger_close(ledger);
  return 0;
}
