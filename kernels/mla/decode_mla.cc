#include "kernels/mla/decode_mla.h"

#include <memory>
#include <new>
#include <vector>

#include "kernels/common/check.h"
#include "kernels/decode/check.h"
#include "kernels/decode/decode_range.h"
#include "kernels/decode/splits.h"
#include "kernels/layout/kv_page.h"
#include "kernels/mla/check.h"
#include "kernels/mla/mla_range.h"

namespace kvbudget::kernels {
namespace {

using Mla = layout::MlaToken;
constexpr int32_t kMlaMostHeads = 128;

/// What decode over pages and over MLA's cache have in common: one KV head of 512 values.
kvb_decode_args batch_of(const kvb_decode_mla_args& m) {
  kvb_decode_args a{};
  a.pages.num_blocks = m.num_blocks;
  a.pages.num_kv_heads = 1;
  a.pages.block_tokens = m.block_tokens;
  a.pages.head_dim = kMlaValueDim;
  a.queries = m.queries;
  a.output = m.output;
  a.query_token_stride = m.query_token_stride;
  a.query_head_stride = m.query_head_stride;
  a.output_token_stride = m.output_token_stride;
  a.output_head_stride = m.output_head_stride;
  a.lse = m.lse;
  a.block_table = m.block_table;
  a.block_table_stride = m.block_table_stride;
  a.lengths = m.lengths;
  a.query_starts = m.query_starts;
  a.num_sequences = m.num_sequences;
  a.num_query_heads = m.num_query_heads;
  a.query_tokens = m.query_tokens;
  a.query_type = m.query_type;
  a.output_type = m.output_type;
  a.softmax_scale = m.softmax_scale;
  a.num_threads = m.num_threads;
  a.max_length = m.max_length;
  return a;
}

Problem check_decode_mla(const kvb_decode_mla_args* args) {
  if (const Problem problem = check_head(args)) return problem;
  const kvb_decode_mla_args& a = *args;
  const MlaStrides strides{a.num_blocks, a.block_tokens, a.block_stride, a.token_stride};
  if (const Problem problem = check_mla_strides(strides)) return problem;
  if (a.num_query_heads < 1 || a.num_query_heads > kMlaMostHeads)
    return unsupported("num_query_heads is not 1 to 128");
  if (a.query_tokens < 1 || a.query_tokens > kMaxQueryTokens)
    return unsupported("query_tokens is not 1 to 8");
  if (a.query_head_stride < kMlaKeyDim || a.query_token_stride < kMlaKeyDim)
    return invalid("a query stride is smaller than 576");
  if (a.num_sequences > 0 && a.cache == nullptr) return invalid("cache is null");
  const kvb_decode_args batch = batch_of(a);
  if (const Problem problem = check_decode_numbers(batch)) return problem;
  return check_decode_tensors(batch);
}

MlaLoop loop_of(CpuIsa isa) {
  switch (isa) {
    case CpuIsa::kAvx512Bf16:
    case CpuIsa::kAvx512:
      return mla_loop_avx512();
    case CpuIsa::kAvx2:
      return mla_loop_avx2();
    case CpuIsa::kPortable:
      break;
  }
  return mla_loop_portable();
}

/// Up to kMlaMostRows rows of one sequence, heads innermost: more would push the tile out of cache.
struct Group : SplitRows {
  int32_t sequence = 0;
  int32_t first_row = 0, num_rows = 0;  ///< of the sequence's
  QueryRows queries_of_sequence{};
  std::vector<float> queries;
  std::vector<int32_t> limit_token;
};

class DecodeMla {
 public:
  DecodeMla(const kvb_decode_mla_args& args, MlaLoop loop)
      : a_(args), batch_(batch_of(args)), loop_(loop) {}

  kvb_status run() {
    if (!is_sound_batch(batch_)) return KVB_INVALID_ARGUMENT;
    size_t num_groups = 0;
    for (int32_t s = 0; s < a_.num_sequences; ++s) num_groups += groups_of(s);
    const auto groups = std::make_unique<Group[]>(num_groups);
    size_t next = 0;
    for (int32_t s = 0; s < a_.num_sequences; ++s)
      for (size_t i = 0; i < groups_of(s); ++i)
        prepare(s, static_cast<int32_t>(i) * kMlaMostRows, &groups[next++]);
    run_splits(
        groups.get(), num_groups, 1, a_.num_threads,
        [this](Group* g, int32_t, int32_t split) { take(*g, split); },
        [this](const Group& g) { merge(g); });
    return KVB_OK;
  }

 private:
  int32_t rows_of(int32_t sequence) const {
    return query_rows(batch_, sequence).count * a_.num_query_heads;
  }
  size_t groups_of(int32_t sequence) const {
    return static_cast<size_t>((rows_of(sequence) + kMlaMostRows - 1) / kMlaMostRows);
  }

  void prepare(int32_t sequence, int32_t first_row, Group* g) const {
    const int32_t length = a_.lengths[sequence];
    g->sequence = sequence;
    g->first_row = first_row;
    g->num_rows = std::min(kMlaMostRows, rows_of(sequence) - first_row);
    g->queries_of_sequence = query_rows(batch_, sequence);
    const int32_t padded = padded_rows(g->num_rows, loop_.max_rows);
    g->open({0, length}, kMlaSplitTokens, padded, kMlaValueDim);
    g->queries.assign(static_cast<size_t>(padded) * kMlaKeyDim, 0.f);
    for (int32_t i = 0; i < g->num_rows; ++i) {
      const int32_t row = first_row + i;
      fill_query(*g, row, &g->queries[static_cast<size_t>(i) * kMlaKeyDim]);
      g->limit_token.push_back(
          visible_tokens(length, g->queries_of_sequence.count, row / a_.num_query_heads, 0).end);
    }
  }

  void fill_query(const Group& g, int32_t row, float* to) const {
    const float scale = a_.softmax_scale * kLog2E;
    const int64_t token = g.queries_of_sequence.first + row / a_.num_query_heads;
    const int64_t from =
        token * a_.query_token_stride + row % a_.num_query_heads * a_.query_head_stride;
    for (int at = 0; at < kMlaKeyDim; ++at)
      to[at] = query_element(batch_, from + loop_.dim_at(at)) * scale;
  }

  void take(Group& g, int32_t split) const {
    const TokenRange tokens = g.tokens_of(split);
    const SplitResult result = g.result_of(split);
    MlaRange range{};
    range.cache = static_cast<const uint8_t*>(a_.cache);
    range.block_stride = a_.block_stride;
    range.token_stride = a_.token_stride;
    range.block_tokens = a_.block_tokens;
    range.blocks = a_.block_table + g.sequence * a_.block_table_stride;
    range.begin = tokens.begin;
    range.end = tokens.end;
    range.num_rows = g.num_rows;
    range.queries = g.queries.data();
    range.limit_token = g.limit_token.data();
    range.output = result.output;
    range.row_max = result.row_max;
    range.row_sum = result.row_sum;
    loop_.run(range);
  }

  void merge(const Group& g) const {
    for (int32_t i = 0; i < g.num_rows; ++i) {
      const int32_t row = g.first_row + i;
      merge_row(batch_, g.parts_of(i), 1.f, g.queries_of_sequence.first + row / a_.num_query_heads,
                row % a_.num_query_heads);
    }
  }

  const kvb_decode_mla_args& a_;
  kvb_decode_args batch_;
  MlaLoop loop_;
};

}  // namespace

kvb_status decode_mla(const kvb_decode_mla_args& args, CpuIsa isa) noexcept {
  try {
    return DecodeMla(args, loop_of(isa)).run();
  } catch (const std::bad_alloc&) {
    return KVB_OUT_OF_MEMORY;
  }
}

}  // namespace kvbudget::kernels

extern "C" const char* kvb_explain_decode_mla(const kvb_decode_mla_args* args) {
  return kvbudget::kernels::check_decode_mla(args).why;
}

extern "C" int kvb_decode_mla_cpu(const kvb_decode_mla_args* args, void* stream) {
  using namespace kvbudget::kernels;
  if (const Problem problem = check_decode_mla(args)) return problem.status;
  if (stream != nullptr) return KVB_INVALID_ARGUMENT;
  return decode_mla(*args, best_cpu_isa());
}
