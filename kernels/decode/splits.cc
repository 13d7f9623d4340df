#include "kernels/decode/splits.h"

#include "kernels/common/float_bits.h"

namespace kvbudget::kernels {

int32_t groups_together(int64_t num_splits, int32_t run, int32_t num_threads) {
  const int32_t threads = thread_count(num_threads);
  const int64_t wanted = threads == 1 ? 1 : int64_t{threads} * 4;  // tasks
  int32_t together = run;
  while (together > 1 && num_splits / together < wanted) together = (together + 1) / 2;
  return together;
}

bool is_sound_batch(const kvb_decode_args& a) {
  for (int32_t s = 0; s < a.num_sequences; ++s) {
    const QueryRows rows = query_rows(a, s);
    const int32_t length = a.lengths[s];
    if (rows.count < 0 || rows.count > a.query_tokens || rows.first < 0) return false;
    if (length < 0 || length > a.max_length) return false;
    const TokenRange tokens = visited_tokens(length, rows.count, a.window);
    const int32_t* blocks = a.block_table + s * a.block_table_stride;
    for (int64_t at = tokens.begin / a.pages.block_tokens; at * a.pages.block_tokens < tokens.end;
         ++at) {
      if (blocks[at] < 0 || blocks[at] >= a.pages.num_blocks) return false;
    }
  }
  return true;
}

float query_element(const kvb_decode_args& a, int64_t at) {
  if (a.query_type == KVB_FLOAT32) return static_cast<const float*>(a.queries)[at];
  const uint16_t bits = static_cast<const uint16_t*>(a.queries)[at];
  return a.query_type == KVB_FLOAT16 ? half_to_float(bits) : bfloat16_to_float(bits);
}

}  // namespace kvbudget::kernels
