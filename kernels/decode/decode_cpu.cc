#include "kernels/decode/decode_cpu.h"

#include <memory>
#include <new>
#include <vector>

#include "kernels/common/check.h"
#include "kernels/decode/check.h"
#include "kernels/decode/decode_range.h"
#include "kernels/decode/splits.h"

namespace kvbudget::kernels {
namespace {

DecodeLoop loop_of(CpuIsa isa, int32_t query_type) {
  switch (isa) {
    case CpuIsa::kAvx512Bf16:
      return query_type == KVB_BFLOAT16 ? decode_loop_avx512_bf16() : decode_loop_avx512();
    case CpuIsa::kAvx512:
      return decode_loop_avx512();
    case CpuIsa::kAvx2:
      return decode_loop_avx2();
    case CpuIsa::kPortable:
      break;
  }
  return decode_loop_portable();
}

/// What the loop's reading of codes lacks, times the static scale of a head.
float scale_of(const kvb_pages& pages, const void* scales, int32_t head, const DecodeLoop& loop) {
  const float code = pages.type == KVB_FLOAT8_E4M3 ? loop.e4m3_scale : 1.f;
  if (pages.scales == KVB_SCALES_TENSOR) return code * static_cast<const float*>(scales)[0];
  if (pages.scales == KVB_SCALES_HEAD) return code * static_cast<const float*>(scales)[head];
  return code;
}

/// The work of one (sequence, KV head).
struct Group : SplitRows {
  int32_t sequence = 0;
  int32_t head = 0;
  QueryRows rows{};
  std::vector<float> queries;
  std::vector<int32_t> first_token, limit_token;
};

class Decode {
 public:
  Decode(const kvb_decode_args& args, DecodeLoop loop) : a_(args), loop_(loop) {}

  kvb_status run() {
    if (!is_sound_batch(a_)) return KVB_INVALID_ARGUMENT;
    const auto num_groups =
        static_cast<size_t>(a_.num_sequences) * static_cast<size_t>(a_.pages.num_kv_heads);
    const auto groups = std::make_unique<Group[]>(num_groups);
    for (size_t i = 0; i < num_groups; ++i) prepare(static_cast<int32_t>(i), &groups[i]);
    run_splits(
        groups.get(), num_groups, a_.pages.num_kv_heads, a_.num_threads,
        [this](Group* first, int32_t count, int32_t split) { take(first, count, split); },
        [this](const Group& g) { merge(g); });
    return KVB_OK;
  }

 private:
  void prepare(int32_t index, Group* g) const {
    g->sequence = index / a_.pages.num_kv_heads;
    g->head = index % a_.pages.num_kv_heads;
    g->rows = query_rows(a_, g->sequence);
    g->open(visited_tokens(a_.lengths[g->sequence], g->rows.count, a_.window), kCpuSplitTokens,
            padded_rows(g->rows.count * group_size(), loop_.max_rows), a_.pages.head_dim);
    prepare_rows(g);
  }

  int32_t group_size() const { return a_.num_query_heads / a_.pages.num_kv_heads; }

  /// Queries by blocks of rows in the loop's order, and what each row sees.
  void prepare_rows(Group* g) const {
    const int32_t num_rows = g->rows.count * group_size();
    const auto dim = static_cast<size_t>(a_.pages.head_dim);
    std::vector<float> plain(static_cast<size_t>(g->padded) * dim, 0.f);
    for (int32_t row = 0; row < num_rows; ++row) {
      const int64_t from = (g->rows.first + row / group_size()) * a_.query_token_stride +
                           (g->head * group_size() + row % group_size()) * a_.query_head_stride;
      for (size_t d = 0; d < dim; ++d)
        plain[static_cast<size_t>(row) * dim + d] =
            query_element(a_, from + static_cast<int64_t>(d));
      const TokenRange seen =
          visible_tokens(a_.lengths[g->sequence], g->rows.count, row / group_size(), a_.window);
      g->first_token.push_back(seen.begin);
      g->limit_token.push_back(seen.end);
    }
    g->queries.resize(plain.size());
    for (int32_t row = 0; row < num_rows;) {
      const int32_t rows = rows_in_block(num_rows - row, loop_.max_rows);
      const size_t at = static_cast<size_t>(row) * dim;
      loop_.order_queries(a_.pages, &plain[at], rows, &g->queries[at]);
      row += rows;
    }
  }

  /// Heads that follow each other over one split's tokens.
  void take(Group* first, int32_t count, int32_t split) const {
    std::vector<DecodeRange> ranges(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) ranges[static_cast<size_t>(i)] = range_of(first[i], split);
    loop_.run(a_.pages, ranges.data(), count);
  }

  DecodeRange range_of(Group& g, int32_t split) const {
    const TokenRange tokens = g.tokens_of(split);
    const SplitResult result = g.result_of(split);
    DecodeRange range{};
    range.blocks = a_.block_table + g.sequence * a_.block_table_stride;
    range.head = g.head;
    range.begin = tokens.begin;
    range.end = tokens.end;
    range.num_rows = g.rows.count * group_size();
    range.score_scale =
        a_.softmax_scale * kLog2E * scale_of(a_.pages, a_.pages.key_scales, g.head, loop_);
    range.queries = g.queries.data();
    range.first_token = g.first_token.data();
    range.limit_token = g.limit_token.data();
    range.soft_cap = a_.soft_cap * kLog2E;
    range.output = result.output;
    range.row_max = result.row_max;
    range.row_sum = result.row_sum;
    return range;
  }

  void merge(const Group& g) const {
    const float scale = scale_of(a_.pages, a_.pages.value_scales, g.head, loop_);
    for (int32_t row = 0; row < g.rows.count * group_size(); ++row)
      merge_row(a_, g.parts_of(row), scale, g.rows.first + row / group_size(),
                g.head * group_size() + row % group_size());
  }

  const kvb_decode_args& a_;
  DecodeLoop loop_;
};

}  // namespace

kvb_status decode_cpu(const kvb_decode_args& args, CpuIsa isa) noexcept {
  try {
    return Decode(args, loop_of(isa, args.query_type)).run();
  } catch (const std::bad_alloc&) {
    return KVB_OUT_OF_MEMORY;
  }
}

}  // namespace kvbudget::kernels

extern "C" int kvb_decode_cpu(const kvb_decode_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_decode(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  return decode_cpu(*args, best_cpu_isa());
}
