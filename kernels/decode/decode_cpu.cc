#include "kernels/decode/decode_cpu.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <vector>

#include "kernels/common/check.h"
#include "kernels/common/float_bits.h"
#include "kernels/common/parallel_for.h"
#include "kernels/decode/check.h"
#include "kernels/decode/decode_range.h"
#include "kernels/decode/merge.h"
#include "kernels/decode/row_limits.h"

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

/// The work of one (sequence, KV head): its rows, and the partial results of its splits.
struct Group {
  int32_t sequence = 0;
  int32_t head = 0;
  QueryRows rows{};
  TokenRange tokens{};
  int32_t num_splits = 0;
  int64_t first_task = 0;
  int32_t padded = 0;
  std::vector<float> queries;
  std::vector<int32_t> first_token, limit_token;
  std::vector<float> output, row_max, row_sum;
  std::atomic<int32_t> splits_left{0};
};

class Decode {
 public:
  Decode(const kvb_decode_args& args, DecodeLoop loop) : a_(args), loop_(loop) {}

  kvb_status run() {
    if (!is_sound()) return KVB_INVALID_ARGUMENT;
    const int64_t num_tasks = plan();
    parallel_for(a_.num_threads, num_tasks, [this](int64_t task) { work(task); });
    return KVB_OK;
  }

 private:
  bool is_sound() const {
    for (int32_t s = 0; s < a_.num_sequences; ++s) {
      const QueryRows rows = query_rows(a_, s);
      const int32_t length = a_.lengths[s];
      if (rows.count < 0 || rows.count > a_.query_tokens || rows.first < 0) return false;
      if (length < 0 || length > a_.max_length) return false;
      const TokenRange tokens = visited_tokens(length, rows.count, a_.window);
      for (int32_t t = tokens.begin; t < tokens.end; t += kTileTokens) {
        const int32_t block = a_.block_table[s * a_.block_table_stride + t / a_.pages.block_tokens];
        if (block < 0 || block >= a_.pages.num_blocks) return false;
      }
    }
    return true;
  }

  int64_t plan() {
    const auto num_groups =
        static_cast<size_t>(a_.num_sequences) * static_cast<size_t>(a_.pages.num_kv_heads);
    groups_ = std::make_unique<Group[]>(num_groups);
    int64_t num_tasks = 0;
    for (size_t i = 0; i < num_groups; ++i) {
      Group& g = groups_[i];
      g.sequence = static_cast<int32_t>(i) / a_.pages.num_kv_heads;
      g.head = static_cast<int32_t>(i) % a_.pages.num_kv_heads;
      g.rows = query_rows(a_, g.sequence);
      g.tokens = visited_tokens(a_.lengths[g.sequence], g.rows.count, a_.window);
      const int32_t count = std::max(0, g.tokens.end - g.tokens.begin);
      g.num_splits = std::max(1, (count + kCpuSplitTokens - 1) / kCpuSplitTokens);
      g.splits_left = g.num_splits;
      g.first_task = num_tasks;
      g.padded = padded_rows(g.rows.count * group_size(), loop_.max_rows);
      const auto padded = static_cast<size_t>(g.num_splits) * static_cast<size_t>(g.padded);
      g.output.assign(padded * static_cast<size_t>(a_.pages.head_dim), 0.f);
      g.row_max.assign(padded, kLowestScore);
      g.row_sum.assign(padded, 0.f);
      prepare_rows(&g);
      for (int32_t split = 0; split < g.num_splits; ++split) tasks_.push_back(&g);
      num_tasks += g.num_splits;
    }
    return num_tasks;
  }

  int32_t group_size() const { return a_.num_query_heads / a_.pages.num_kv_heads; }

  float query(int64_t token, int32_t head, int32_t d) const {
    const int64_t at = token * a_.query_token_stride + head * a_.query_head_stride + d;
    if (a_.query_type == KVB_FLOAT32) return static_cast<const float*>(a_.queries)[at];
    const uint16_t bits = static_cast<const uint16_t*>(a_.queries)[at];
    return a_.query_type == KVB_FLOAT16 ? half_to_float(bits) : bfloat16_to_float(bits);
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

  void work(int64_t task) {
    Group& g = *tasks_[static_cast<size_t>(task)];
    const auto split = static_cast<int32_t>(task - g.first_task);
    const size_t first_row = static_cast<size_t>(split) * static_cast<size_t>(g.padded);
    DecodeRange range{};
    range.pages = &a_.pages;
    range.blocks = a_.block_table + g.sequence * a_.block_table_stride;
    range.head = g.head;
    range.begin = g.tokens.begin + split * kCpuSplitTokens;
    range.end = std::min(g.tokens.end, range.begin + kCpuSplitTokens);
    range.num_rows = g.rows.count * group_size();
    range.queries = g.queries.data();
    range.first_token = g.first_token.data();
    range.limit_token = g.limit_token.data();
    range.soft_cap = a_.soft_cap * kLog2E;
    range.output = g.output.data() + first_row * static_cast<size_t>(a_.pages.head_dim);
    range.row_max = g.row_max.data() + first_row;
    range.row_sum = g.row_sum.data() + first_row;
    if (range.begin < range.end) loop_.run(range);
    if (--g.splits_left == 0) merge(g);
  }

  void merge(const Group& g) const {
    const float scale = scale_of(a_.pages, a_.pages.value_scales, g.head, loop_);
    for (int32_t row = 0; row < g.rows.count * group_size(); ++row) {
      const RowParts parts{g.output.data() + int64_t{row} * a_.pages.head_dim,
                           g.row_max.data() + row, g.row_sum.data() + row, g.num_splits, g.padded};
      merge_row(a_, parts, scale, g.rows.first + row / group_size(),
                g.head * group_size() + row % group_size());
    }
  }

  const kvb_decode_args& a_;
  DecodeLoop loop_;
  std::unique_ptr<Group[]> groups_;
  std::vector<Group*> tasks_;
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
