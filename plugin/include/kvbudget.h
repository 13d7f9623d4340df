/* The block ledger for engines: who may use how many KV blocks (see plugin/ledger/ledger.h).
 *
 * C99. Every struct begins with its size, set by the caller, so that fields can be added at the
 * end; every function says what went wrong by its status and never throws or exits. A ledger is
 * used by one thread at a time; its snapshot in shared memory is read by any process.
 * Keys name requests: 64 bits, from a hash of the engine's request id. Times are seconds of one
 * clock that does not go back. */
#ifndef KVBUDGET_H
#define KVBUDGET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KVB_API __attribute__((visibility("default")))
#else
#define KVB_API
#endif

/* Raised when a struct or function changes in a way that old callers would misread. */
#define KVB_ABI_VERSION 1u

typedef struct kvb_ledger kvb_ledger;

typedef enum kvb_status {
  KVB_OK = 0,
  KVB_INVALID_ARGUMENT = 1, /* a null pointer, a struct_size too small, a value out of range */
  KVB_NO_MEMORY = 2,
  KVB_SHARED_MEMORY = 3, /* the segment cannot be created, opened or read; errno says why */
  KVB_NOT_FOUND = 4,     /* no such tenant, request or segment */
  KVB_INTERNAL = 5       /* a fault of the library */
} kvb_status;

typedef enum kvb_mode { KVB_OPTIMISTIC = 0, KVB_STRICT = 1 } kvb_mode;
typedef enum kvb_answer { KVB_ADMIT = 0, KVB_HOLD = 1, KVB_NEVER = 2 } kvb_answer;

#define KVB_DEFAULT_TENANTS 64u

typedef struct kvb_limits {
  uint32_t struct_size;
  uint32_t mode;            /* kvb_mode */
  uint64_t capacity_blocks; /* that the engine can hand out, without the null block */
  uint64_t budget_blocks;
  uint32_t max_requests; /* known at once; 0: 65,536 */
  uint32_t max_tenants;  /* 0: KVB_DEFAULT_TENANTS */
  uint32_t max_pending;  /* 0: as many as max_requests */
  uint32_t reserved;
  double max_hold_seconds; /* 0: for ever */
} kvb_limits;

typedef struct kvb_tenant_limits {
  uint32_t struct_size;
  uint32_t reserved;
  double weight;
  uint64_t min_blocks;
  uint64_t max_blocks; /* UINT64_MAX: no maximum */
} kvb_tenant_limits;

typedef struct kvb_statistics {
  uint32_t struct_size;
  uint32_t tenants;
  uint64_t capacity_blocks;
  uint64_t budget_blocks;
  uint64_t reserved_blocks;
  uint64_t late_blocks;
  uint64_t peak_reserved_blocks;
  uint64_t admitted; /* requests, now */
  uint64_t pending;
  uint64_t admitted_total;
  uint64_t held_total;
  uint64_t rejected_total;
  uint64_t released_total;
  double hold_seconds_total;
  uint64_t promoted_total;   /* held, and admitted then */
  double oldest_since;       /* when the longest held of those next to go came; 0: none is held */
  uint64_t rejected_for[16]; /* by reason */
  uint64_t max_pending;
  double max_hold_seconds; /* 0: for ever */
} kvb_statistics;

typedef struct kvb_tenant_state {
  uint32_t struct_size;
  uint32_t reserved;
  char name[48]; /* cut off, ends in 0 */
  uint64_t reserved_blocks;
  uint64_t min_blocks;
  uint64_t max_blocks;
  uint64_t admitted;
  uint64_t pending;
  uint64_t most_blocks; /* of a request that may ever go */
} kvb_tenant_state;

typedef struct kvb_rejected {
  uint64_t key;
  uint32_t reason; /* for kvb_reason_text */
  uint32_t reserved;
} kvb_rejected;

typedef enum kvb_group_kind {
  KVB_GROUP_FULL = 0,
  KVB_GROUP_BOUNDED = 1,
  KVB_GROUP_STATE = 2,
  KVB_GROUP_CROSS = 3
} kvb_group_kind;

typedef struct kvb_group {
  uint32_t kind; /* kvb_group_kind */
  uint32_t block_tokens;
  uint64_t most_blocks;
} kvb_group;

#define KVB_MAX_GROUPS 16u

typedef enum kvb_engine_mode {
  KVB_ENGINE_OPTIMISTIC = 0,
  KVB_ENGINE_STRICT = 1,
  KVB_ENGINE_OBSERVE = 2 /* the ledger counts what it would do, nothing is held or refused */
} kvb_engine_mode;

/* What the engine says of itself, for readers of the snapshot. */
typedef struct kvb_engine {
  uint32_t struct_size;
  uint32_t mode; /* kvb_engine_mode */
  uint64_t max_model_len;
  uint64_t lookahead_tokens;
  uint32_t partial_block;
  uint32_t group_count;
  kvb_group groups[KVB_MAX_GROUPS];
  uint64_t held_blocks;  /* distinct blocks that requests have */
  uint64_t drift_blocks; /* in use, and no request has them */
  uint64_t steps_total;
  uint64_t preemptions_total;
  uint64_t requests_total;     /* in observe mode */
  uint64_t would_hold_total;   /* in observe mode, by strict mode */
  uint64_t would_reject_total; /* likewise */
  double step_seconds_total;   /* that steps took in the ledger and around it */
  double concurrency_lost;     /* in observe mode: running beyond what strict mode lets in, mean */
} kvb_engine;

KVB_API uint32_t kvb_abi_version(void);
KVB_API const char* kvb_status_text(kvb_status status);
KVB_API const char* kvb_reason_text(uint32_t reason);

KVB_API kvb_status kvb_ledger_open(const kvb_limits* limits, kvb_ledger** ledger);
KVB_API void kvb_ledger_close(kvb_ledger* ledger);
/* What was wrong with the last call that failed; never null, lives until the next call. */
KVB_API const char* kvb_ledger_error(const kvb_ledger* ledger);

/* Adds a tenant or changes one; tenant 0 is "default". */
KVB_API kvb_status kvb_tenant_set(kvb_ledger* ledger, const char* name, size_t name_bytes,
                                  const kvb_tenant_limits* limits, uint32_t* tenant);
KVB_API kvb_status kvb_tenant_get(const kvb_ledger* ledger, uint32_t tenant,
                                  kvb_tenant_state* state);

/* `reason` may be null; it is 0 unless the answer is KVB_NEVER. */
KVB_API kvb_status kvb_request_admit(kvb_ledger* ledger, uint64_t key, uint32_t tenant,
                                     uint64_t blocks, int32_t priority, double now,
                                     uint32_t* answer, uint32_t* reason);
/* What a request reserves or, while it is held, waits for; KVB_INVALID_ARGUMENT, and nothing
 * changes, where a held one could never have as many. */
KVB_API kvb_status kvb_request_resize(kvb_ledger* ledger, uint64_t key, uint64_t blocks);
/* Unknown keys are ignored, so that it can be repeated. */
KVB_API kvb_status kvb_requests_release(kvb_ledger* ledger, const uint64_t* keys, size_t count);
/* Writes the keys of held requests that may go now; `*count` is their number, at most `room`. */
KVB_API kvb_status kvb_requests_promote(kvb_ledger* ledger, double now, uint64_t* keys, size_t room,
                                        size_t* count);
/* Writes the key of each tenant's held request that goes first. */
KVB_API kvb_status kvb_requests_next_held(const kvb_ledger* ledger, uint64_t* keys, size_t room,
                                          size_t* count);
/* Held requests that can no longer be admitted; they are forgotten. */
KVB_API kvb_status kvb_requests_reject(kvb_ledger* ledger, double now, kvb_rejected* rejected,
                                       size_t room, size_t* count);

/* What the engine really has: free blocks, and distinct blocks that live requests hold. */
KVB_API kvb_status kvb_ledger_reconcile(kvb_ledger* ledger, uint64_t free_blocks,
                                        uint64_t held_blocks);
KVB_API kvb_status kvb_budget_set(kvb_ledger* ledger, uint64_t blocks);
KVB_API kvb_status kvb_capacity_set(kvb_ledger* ledger, uint64_t blocks);
KVB_API kvb_status kvb_statistics_get(const kvb_ledger* ledger, kvb_statistics* statistics);

/* Blocks of a request's whole life over all groups; UINT64_MAX when groups are null. */
KVB_API uint64_t kvb_blocks_needed(const kvb_group* groups, size_t count, uint64_t prompt_tokens,
                                   uint64_t output_tokens, uint64_t lookahead_tokens,
                                   uint64_t encoder_tokens, uint64_t max_model_len,
                                   int partial_block);

/* Goes out with the next snapshot. */
KVB_API kvb_status kvb_engine_set(kvb_ledger* ledger, const kvb_engine* engine);
/* Publishes statistics and tenants in POSIX shared memory under `name` ("/kvbudget-4711-0"). */
KVB_API kvb_status kvb_snapshot_create(kvb_ledger* ledger, const char* name);
KVB_API kvb_status kvb_snapshot_publish(kvb_ledger* ledger);
/* The segment goes away, before the ledger does. */
KVB_API kvb_status kvb_snapshot_close(kvb_ledger* ledger);
/* Reads a segment of any process; `tenants` has room for `*count` and gets that many at most. */
KVB_API kvb_status kvb_snapshot_read(const char* name, kvb_statistics* statistics,
                                     kvb_tenant_state* tenants, size_t* count, uint64_t* pid);
KVB_API kvb_status kvb_snapshot_engine(const char* name, kvb_engine* engine);
KVB_API kvb_status kvb_snapshot_unlink(const char* name);

#ifdef __cplusplus
}
#endif

#endif
