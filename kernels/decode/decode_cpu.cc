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

DecodeLoop loop_of(CpuIsa isa) {
  switch (isa) {
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
        groups.get(), num_groups, a_.num_threads,
        [this](Group& g, int32_t split) { take(g, split); }, [this](const Group& g) { merge(g); });
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

  float query(int64_t token, int32_t head, int32_t d) const {
    return query_element(a_, token * a_.query_token_stride + head * a_.query_head_stride + d);
  }

  /// Scaled queries in blocks of rows, dimension by dimension, and what each row sees.
  void prepare_rows(Group* g) const {
    const int32_t num_rows = g->rows.count * group_size();
    const int32_t dim = a_.pages.head_dim;
    const float scale =
        a_.softmax_scale * kLog2E * scale_of(a_.pages, a_.pages.key_scales, g->head, loop_);
    g->queries.reserve(static_cast<size_t>(g->padded) * static_cast<size_t>(dim));
    for (int32_t row = 0; row < num_rows;) {
      const int32_t rows = rows_in_block(num_rows - row, loop_.max_rows);
      for (int32_t d = 0; d < dim; ++d) {
        for (int32_t r = row; r < row + rows; ++r) {
          const int64_t token = g->rows.first + r / group_size();
          const int32_t head = g->head * group_size() + r % group_size();
          g->queries.push_back(r < num_rows ? query(token, head, d) * scale : 0.f);
        }
      }
      row += rows;
    }
    for (int32_t row = 0; row < num_rows; ++row) {
      const TokenRange seen =
          visible_tokens(a_.lengths[g->sequence], g->rows.count, row / group_size(), a_.window);
      g->first_token.push_back(seen.begin);
      g->limit_token.push_back(seen.end);
    }
  }

  void take(Group& g, int32_t split) const {
    const TokenRange tokens = g.tokens_of(split);
    const SplitResult result = g.result_of(split);
    DecodeRange range{};
    range.pages = &a_.pages;
    range.blocks = a_.block_table + g.sequence * a_.block_table_stride;
    range.head = g.head;
    range.begin = tokens.begin;
    range.end = tokens.end;
    range.num_rows = g.rows.count * group_size();
    range.queries = g.queries.data();
    range.first_token = g.first_token.data();
    range.limit_token = g.limit_token.data();
    range.soft_cap = a_.soft_cap * kLog2E;
    range.output = result.output;
    range.row_max = result.row_max;
    range.row_sum = result.row_sum;
    loop_.run(range);
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
    return Decode(args, loop_of(isa)).run();
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
