// Divides sequences into pieces of equal length: about one wave of blocks when the batch is small
// and even, two or more when it is ragged, and no piece so short that writing its partial result
// costs more than 6 % of reading its cache.
#include <algorithm>

#include "kernels/decode/check.h"
#include "kernels/decode/row_limits.h"

namespace kvbudget::kernels {
namespace {

constexpr int32_t kGrain = 64;        // tokens: one tile per warp
constexpr int32_t kShortest = 512;    // 8 KiB of partials against 128 KiB of cache at G 8
constexpr int32_t kMostSplits = 256;  // of a sequence

int32_t span(const kvb_decode_args& a, int32_t s) {
  const TokenRange range = visited_tokens(a.lengths[s], query_rows(a, s).count, a.window);
  return std::max(0, range.end - range.begin);
}

int64_t pieces(int64_t tokens, int64_t split_tokens) {
  return std::max<int64_t>(1, (tokens + split_tokens - 1) / split_tokens);
}

int64_t all_pieces(const kvb_decode_args& a, int32_t split_tokens) {
  int64_t count = 0;
  for (int32_t s = 0; s < a.num_sequences; ++s) count += pieces(span(a, s), split_tokens);
  return count;
}

/// The shortest split whose pieces fit one wave, or 2.5 waves if some sequence is far longer than
/// the mean: a wave must not wait for one long piece.
int32_t choose_split(const kvb_decode_args& a, int32_t target_ctas) {
  int64_t total = 0;
  int32_t longest = 0;
  for (int32_t s = 0; s < a.num_sequences; ++s) {
    total += span(a, s);
    longest = std::max(longest, span(a, s));
  }
  const bool ragged = int64_t{longest} * a.num_sequences > 2 * total;
  const int64_t waves = target_ctas + (ragged ? target_ctas * int64_t{3} / 2 : 0);
  const int64_t budget = std::max<int64_t>(1, waves / a.pages.num_kv_heads);
  int32_t low = std::max(kShortest, (longest / kMostSplits + kGrain - 1) / kGrain * kGrain);
  int32_t high = std::max(low, (longest + kGrain - 1) / kGrain * kGrain);
  while (low < high) {
    const int32_t middle = (low + (high - low) / 2) / kGrain * kGrain;
    if (all_pieces(a, middle) <= budget) {
      high = middle;
    } else {
      low = middle + kGrain;
    }
  }
  return low;
}

}  // namespace
}  // namespace kvbudget::kernels

extern "C" int kvb_plan_decode(const kvb_decode_args* args, int32_t target_ctas, int32_t* work,
                               int32_t capacity, kvb_decode_plan* plan) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_decode(args)) return problem.status;
  if (target_ctas < 1 || work == nullptr || plan == nullptr) return KVB_INVALID_ARGUMENT;
  const kvb_decode_args& a = *args;
  if (capacity < a.num_sequences) return KVB_INVALID_ARGUMENT;
  int32_t split_tokens = choose_split(a, target_ctas);
  while (all_pieces(a, split_tokens) > capacity) split_tokens *= 2;
  int32_t* pairs = work + a.num_sequences + 1;
  int32_t next = 0;
  for (int32_t s = 0; s < a.num_sequences; ++s) {
    work[s] = next;
    const auto count = static_cast<int32_t>(pieces(span(a, s), split_tokens));
    for (int32_t split = 0; split < count; ++split, ++next) {
      pairs[2 * next] = s;
      pairs[2 * next + 1] = split;
    }
  }
  work[a.num_sequences] = next;
  for (; next < capacity; ++next) pairs[2 * next] = pairs[2 * next + 1] = -1;
  *plan = kvb_decode_plan{};
  plan->struct_bytes = sizeof *plan;
  plan->abi_version = KVB_ABI_VERSION;
  plan->num_work = capacity;
  plan->split_tokens = split_tokens;
  plan->workspace_bytes = int64_t{capacity} * a.query_tokens * a.num_query_heads *
                          (a.pages.head_dim + 2) * static_cast<int64_t>(sizeof(float));
  return KVB_OK;
}
