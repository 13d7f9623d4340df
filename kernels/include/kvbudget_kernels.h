/* FP8 KV-cache kernels: quantise on write, split-KV decode, helpers on pages. A C ABI without any
 * framework: plain structs, pointers, strides, a stream as void*.
 *
 * Every function has a twin with the suffix _cpu that takes the same struct with pointers to host
 * memory; its stream is NULL. Nothing allocates device memory or synchronises. All return a
 * kvb_status; kvb_explain_* says in words what is wrong with a struct. Each struct begins with its
 * size and the ABI version, so that a library never reads past what its caller knew. */
#ifndef KVBUDGET_KERNELS_H
#define KVBUDGET_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KVB_API __attribute__((visibility("default")))
#else
#define KVB_API
#endif

#define KVB_ABI_VERSION 1u

typedef enum kvb_status {
  KVB_OK = 0,
  KVB_INVALID_ARGUMENT = 1, /* a struct contradicts itself; see kvb_explain_* */
  KVB_UNSUPPORTED = 2,      /* well-formed, but this library or machine cannot do it */
  KVB_CUDA_UNAVAILABLE = 3, /* built without CUDA, no driver, or no device */
  KVB_CUDA_ERROR = 4,       /* a launch failed */
  KVB_OUT_OF_MEMORY = 5     /* a CPU twin could not allocate its scratch memory */
} kvb_status;

enum kvb_type { /* values of layout::ElementType */
                KVB_FLOAT32 = 0,
                KVB_FLOAT16 = 1,
                KVB_BFLOAT16 = 2,
                KVB_FLOAT8_E4M3 = 3,
                KVB_FLOAT8_E5M2 = 4
};

enum kvb_scales {
  KVB_SCALES_NONE = 0,            /* 1.0 */
  KVB_SCALES_TENSOR = 1,          /* one float */
  KVB_SCALES_HEAD = 2,            /* float [num_kv_heads] */
  KVB_SCALES_TOKEN_HEAD_E8M0 = 3, /* in the pages: one byte, 2^(byte - 127) */
  KVB_SCALES_TOKEN_HEAD_F32 = 4   /* in the pages: one float, of least error for the row */
};

/* A layer's paged cache, by strides in bytes: KVB-P1 (kvb_pages_p1 fills it in), vLLM's packed
 * [blocks, heads, tokens, 2 * dim] in HND or NHD order, split K and V, or scales inline. */
typedef struct kvb_pages {
  uint32_t struct_bytes;
  uint32_t abi_version;
  void* keys;   /* [num_blocks, num_kv_heads, block_tokens, head_dim] by the strides below */
  void* values; /* the same shape and strides */
  int64_t block_stride, head_stride, token_stride; /* bytes */
  void* key_scales; /* kvb_scales says what; NULL with KVB_SCALES_NONE */
  void* value_scales;
  int64_t scale_block_stride, scale_head_stride, scale_token_stride; /* bytes; token-head only */
  int64_t num_blocks;
  int32_t num_kv_heads;
  int32_t block_tokens; /* 16 to 128, a multiple of 16 */
  int32_t head_dim;     /* 64, 96, 128, 256 */
  int32_t type;         /* kvb_type of the elements: FP8, or bfloat16 (CPU decode, conversions) */
  int32_t scales;       /* kvb_scales */
  int32_t swizzle;      /* 1: 16-byte units permuted by token; head_dim 128 and 256 */
} kvb_pages;

/* Fills `pages` in for KVB-P1 pages that begin at `base`, [num_blocks, num_kv_heads, page]. The
 * scales must be none or per (token, head); for static ones set key_scales and value_scales. */
KVB_API int kvb_pages_p1(void* base, int64_t num_blocks, int32_t num_kv_heads, int32_t block_tokens,
                         int32_t head_dim, int32_t scales, int32_t swizzle, kvb_pages* pages);
/* Bytes of one (block, KV head) page of KVB-P1; 0 for an impossible shape. */
KVB_API int64_t kvb_page_bytes(int32_t block_tokens, int32_t head_dim, int32_t scales);
KVB_API const char* kvb_explain_pages(const kvb_pages* pages); /* NULL: nothing is wrong */

/* Writes new tokens' keys and values into their slots. Scales in the pages are chosen per (token,
 * head), static ones divide; rounding is to nearest even, saturating. */
typedef struct kvb_quantize_args {
  uint32_t struct_bytes;
  uint32_t abi_version;
  kvb_pages pages;
  const void* keys; /* [num_tokens, num_kv_heads, head_dim] */
  const void* values;
  int64_t key_token_stride, key_head_stride; /* elements */
  int64_t value_token_stride, value_head_stride;
  const int64_t* slots; /* [num_tokens]: block * block_tokens + row; negative: left out */
  int64_t num_tokens;
  uint64_t* nan_count; /* NaN inputs seen are added here (they are written as 0); may be NULL */
  int32_t type;        /* kvb_type of keys and values: float32, float16, bfloat16 */
  int32_t num_threads; /* CPU: 0 for all; ignored on the GPU */
} kvb_quantize_args;

KVB_API int kvb_quantize_kv(const kvb_quantize_args* args, void* stream);
KVB_API int kvb_quantize_kv_cpu(const kvb_quantize_args* args, void* stream);
KVB_API const char* kvb_explain_quantize_kv(const kvb_quantize_args* args);

/* How decode divides its work on the GPU; kvb_plan_decode fills it in. The CPU needs none. */
typedef struct kvb_decode_plan {
  uint32_t struct_bytes;
  uint32_t abi_version;
  const int32_t* work;     /* device copy of what kvb_plan_decode wrote */
  void* workspace;         /* device memory, 16-byte aligned, of at least workspace_bytes */
  int64_t workspace_bytes; /* needed (after planning), there is (when decoding) */
  int32_t num_work;        /* pieces; the grid, also where fewer are in use */
  int32_t split_tokens;    /* of one piece, a multiple of 64 */
} kvb_decode_plan;

/* One step of attention for sequences whose keys and values lie in pages: softmax(q k^T) v over
 * each sequence's tokens, split over many workers and merged. */
typedef struct kvb_decode_args {
  uint32_t struct_bytes;
  uint32_t abi_version;
  kvb_pages pages;
  const void* queries; /* [query tokens of all sequences, num_query_heads, head_dim] */
  void* output;        /* the same shape */
  int64_t query_token_stride, query_head_stride; /* elements */
  int64_t output_token_stride, output_head_stride;
  float* lse; /* [query tokens, num_query_heads]: natural log of the sum; may be NULL */
  const int32_t* block_table; /* [num_sequences, block_table_stride] */
  int64_t block_table_stride;
  const int32_t* lengths;      /* [num_sequences] cached tokens, the new ones included */
  const int32_t* query_starts; /* [num_sequences + 1]; NULL: query_tokens each */
  const float* sinks;          /* [num_query_heads] logits without a value; may be NULL */
  int32_t num_sequences;
  int32_t num_query_heads; /* 1 to 16 times num_kv_heads */
  int32_t query_tokens;    /* 1 to 8: the most of any sequence, its last tokens */
  int32_t query_type;      /* bfloat16 or float16 (CPU: float32 too) */
  int32_t output_type;     /* float32, float16, bfloat16 */
  float softmax_scale;
  float soft_cap;       /* 0: none; else cap * tanh(score / cap) */
  int32_t window;       /* 0: none; else a query sees this many tokens, itself included */
  int32_t num_threads;  /* CPU: 0 for all */
  int32_t max_length;   /* no sequence is longer; bounds the block table */
  kvb_decode_plan plan; /* GPU only */
} kvb_decode_args;

/* Divides the sequences into pieces for about `target_ctas` resident blocks of threads (four per
 * multiprocessor). lengths and query_starts are host memory here. Writes num_sequences + 1 first
 * pieces, then `capacity` pairs (sequence, split), -1 where unused, to `work`: that many int32. A
 * captured graph keeps its grid: plan with the same capacity and target each step, copy `work`. */
KVB_API int kvb_plan_decode(const kvb_decode_args* args, int32_t target_ctas, int32_t* work,
                            int32_t capacity, kvb_decode_plan* plan);

/* lengths beyond max_length, or blocks beyond the pages, are the caller's fault and not looked for:
 * they lie in device memory. The CPU twin checks them. */
KVB_API int kvb_decode(const kvb_decode_args* args, void* stream);
KVB_API int kvb_decode_cpu(const kvb_decode_args* args, void* stream);
KVB_API const char* kvb_explain_decode(const kvb_decode_args* args);

/* The way back: tokens of pages as dense floats, the reverse of kvb_quantize_kv. Tokens with a
 * negative slot are left as they are. */
typedef struct kvb_gather_args {
  uint32_t struct_bytes;
  uint32_t abi_version;
  kvb_pages pages;
  void* keys; /* [num_tokens, num_kv_heads, head_dim] */
  void* values;
  int64_t key_token_stride, key_head_stride; /* elements */
  int64_t value_token_stride, value_head_stride;
  const int64_t* slots; /* [num_tokens] */
  int64_t num_tokens;
  int32_t type;        /* float32, float16, bfloat16 */
  int32_t num_threads; /* 0 for all */
} kvb_gather_args;

KVB_API int kvb_gather_dequantize_cpu(const kvb_gather_args* args, void* stream);

/* Rewrites tokens of one cache in another's format: static to per-token scales, 16 bits to FP8. */
typedef struct kvb_convert_args {
  uint32_t struct_bytes;
  uint32_t abi_version;
  kvb_pages from;
  kvb_pages to;              /* FP8 */
  const int64_t* from_slots; /* [num_tokens], negative: left out */
  const int64_t* to_slots;
  int64_t num_tokens;
  int32_t num_threads;
} kvb_convert_args;

KVB_API int kvb_convert_pages_cpu(const kvb_convert_args* args, void* stream);

/* Copies whole blocks, within a cache (copy on write) or between caches: neighbouring pairs become
 * one copy. The caches must not overlap unless they are the same and no block is both
 * read and written. `pairs` is host memory; kvb_copy_pages takes device and host caches alike. */
typedef struct kvb_copy_args {
  uint32_t struct_bytes;
  uint32_t abi_version;
  const void* from;
  void* to;
  int64_t block_bytes; /* of both */
  int64_t num_from_blocks, num_to_blocks;
  const int64_t* pairs; /* [num_pairs, 2]: block of `from`, block of `to` */
  int64_t num_pairs;
} kvb_copy_args;

KVB_API int kvb_copy_pages(const kvb_copy_args* args, void* stream);
KVB_API int kvb_copy_pages_cpu(const kvb_copy_args* args, void* stream);

/* Moves the same blocks of all layers between a cache on the device and one on the host, either
 * way: a request leaves or comes back. Runs of neighbours become one copy per layer; host memory
 * that is pinned is copied while the stream goes on. All caches are checked before any is touched.
 */
typedef struct kvb_swap_args {
  uint32_t struct_bytes;
  uint32_t abi_version;
  const void* const* from; /* [num_layers] caches; an array in host memory, as are to and pairs */
  void* const* to;         /* [num_layers] */
  int64_t block_bytes;     /* of all */
  int64_t num_from_blocks, num_to_blocks;
  const int64_t* pairs; /* [num_pairs, 2]: block of `from`, block of `to` */
  int64_t num_pairs;
  int32_t num_layers;
  int32_t reserved; /* 0 */
} kvb_swap_args;

KVB_API int kvb_swap_pages(const kvb_swap_args* args, void* stream);
KVB_API int kvb_swap_pages_cpu(const kvb_swap_args* args, void* stream);

/* The largest finite magnitude per KV head of what kvb_quantize_kv would write, for calibration:
 * raises key_amax and value_amax, float [num_kv_heads]. Slots are not looked at. */
KVB_API int kvb_scan_amax_cpu(const kvb_quantize_args* args, float* key_amax, float* value_amax);

/* Counts NaN codes, and scales that no quantiser writes, in the rows of these slots. */
KVB_API int kvb_verify_pages_cpu(const kvb_pages* pages, const int64_t* slots, int64_t num_tokens,
                                 uint64_t* nan_codes, uint64_t* bad_scales);

/* DeepSeek's MLA cache, vLLM's fp8_ds_mla: 656 bytes a token, 512 e4m3 codes, 4 float scales, 64
 * bfloat16 RoPE values. Scales are powers of two here, which its readers take like any other. */
typedef struct kvb_mla_args {
  uint32_t struct_bytes;
  uint32_t abi_version;
  void* cache;                        /* [num_blocks, block_tokens, 656] by the strides */
  int64_t block_stride, token_stride; /* bytes */
  int64_t num_blocks;
  void* latent;                       /* [num_tokens, 512]; read by write, written by gather */
  void* rope;                         /* [num_tokens, 64] */
  int64_t latent_stride, rope_stride; /* elements */
  const int64_t* slots;               /* [num_tokens], negative: left out */
  int64_t num_tokens;
  uint64_t* nan_count; /* of write; may be NULL */
  int32_t block_tokens;
  int32_t type; /* float32, float16, bfloat16 */
} kvb_mla_args;

KVB_API int kvb_write_mla_cpu(const kvb_mla_args* args, void* stream);
KVB_API int kvb_gather_mla_cpu(const kvb_mla_args* args, void* stream);

/* One step of attention over MLA's cache with absorbed projections: all query heads share one key
 * of 576 values (latent, then RoPE), whose first 512 are also the value. On the CPU alone. */
typedef struct kvb_decode_mla_args {
  uint32_t struct_bytes;
  uint32_t abi_version;
  const void* cache;                  /* [num_blocks, block_tokens, 656] by the strides */
  int64_t block_stride, token_stride; /* bytes */
  int64_t num_blocks;
  const void* queries; /* [query tokens of all sequences, num_query_heads, 576]: latent, RoPE */
  void* output;        /* [query tokens, num_query_heads, 512] */
  int64_t query_token_stride, query_head_stride; /* elements */
  int64_t output_token_stride, output_head_stride;
  float* lse; /* [query tokens, num_query_heads]: natural log of the sum; may be NULL */
  const int32_t* block_table; /* [num_sequences, block_table_stride] */
  int64_t block_table_stride;
  const int32_t* lengths;      /* [num_sequences] cached tokens, the new ones included */
  const int32_t* query_starts; /* [num_sequences + 1]; NULL: query_tokens each */
  int32_t num_sequences;
  int32_t num_query_heads; /* 1 to 128 */
  int32_t query_tokens;    /* 1 to 8: the most of any sequence, its last tokens */
  int32_t block_tokens;
  int32_t query_type;  /* float32, float16, bfloat16 */
  int32_t output_type; /* float32, float16, bfloat16 */
  int32_t max_length;  /* no sequence is longer; bounds the block table */
  int32_t num_threads; /* 0 for all */
  float softmax_scale;
} kvb_decode_mla_args;

KVB_API int kvb_decode_mla_cpu(const kvb_decode_mla_args* args, void* stream);
KVB_API const char* kvb_explain_decode_mla(const kvb_decode_mla_args* args);

KVB_API uint32_t kvb_abi_version(void);
KVB_API const char* kvb_status_name(int status);
/* "cuda: available", or "cuda: unavailable" and why. */
KVB_API const char* kvb_cuda_state(void);
/* The instruction set that the CPU twins use here: "avx512_bf16", "avx512", "avx2", "portable". The
 * environment variable KVBUDGET_CPU_ISA, set to one of these names before the first call, lowers
 * it. */
KVB_API const char* kvb_cpu_isa(void);

#ifdef __cplusplus
}
#endif

#endif
