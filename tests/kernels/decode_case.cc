#include "tests/kernels/decode_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/check.h"
#include "kernels/common/float_bits.h"
#include "kernels/common/page_row.h"
#include "kernels/layout/kv_page.h"
#include "tests/kernels/reference_codes.h"
#include "tests/support/catch.h"

namespace kvbudget::kernels::test {
namespace {

constexpr uint8_t kNanCodes = 0xff;

int32_t blocks_of(const DecodeShape& shape, int32_t length) {
  return (length + shape.cache.block_tokens - 1) / shape.cache.block_tokens;
}

PageRow row_of(const DecodeCase& c, int32_t sequence, int32_t token, int32_t head) {
  const int32_t n = c.shape.cache.block_tokens;
  const int64_t at = sequence * c.args.block_table_stride + token / n;
  return {c.block_table[static_cast<size_t>(at)], head, token % n};
}

/// Writes a sequence's tokens through the quantiser, or as they are into 16-bit pages.
void write_sequence(DecodeCase* c, int32_t sequence, const Tokens& tokens) {
  const kvb_pages& pages = c->cache.pages;
  const AlignedBytes keys = to_bytes(tokens.keys, KVB_BFLOAT16);
  const AlignedBytes values = to_bytes(tokens.values, KVB_BFLOAT16);
  if (pages.type == KVB_BFLOAT16) {
    const auto row_bytes = static_cast<size_t>(pages.head_dim) * 2;
    for (int64_t i = 0; i < tokens.num_tokens * pages.num_kv_heads; ++i) {
      const PageRow row = row_of(*c, sequence, static_cast<int32_t>(i / pages.num_kv_heads),
                                 static_cast<int32_t>(i % pages.num_kv_heads));
      const int64_t to = row_offset(pages, row);
      const size_t from = static_cast<size_t>(i) * row_bytes;
      std::memcpy(static_cast<uint8_t*>(pages.keys) + to, keys.data() + from, row_bytes);
      std::memcpy(static_cast<uint8_t*>(pages.values) + to, values.data() + from, row_bytes);
    }
    return;
  }
  std::vector<int64_t> slots;
  for (int32_t t = 0; t < tokens.num_tokens; ++t) {
    const PageRow row = row_of(*c, sequence, t, 0);
    slots.push_back(row.block * pages.block_tokens + row.token);
  }
  const kvb_quantize_args a = make_quantize_args(pages, keys, values, KVB_BFLOAT16, slots);
  REQUIRE(kvb_quantize_kv_cpu(&a, nullptr) == KVB_OK);
}

void fill_args(DecodeCase* c) {
  const DecodeShape& s = c->shape;
  kvb_decode_args& a = c->args;
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.num_sequences = static_cast<int32_t>(s.lengths.size());
  a.num_query_heads = s.group * s.cache.num_kv_heads;
  a.query_tokens = s.query_tokens;
  a.query_type = s.query_type;
  a.output_type = s.output_type;
  a.query_head_stride = a.output_head_stride = s.cache.head_dim;
  a.query_token_stride = a.output_token_stride = int64_t{s.cache.head_dim} * a.num_query_heads;
  a.softmax_scale = 1.f / std::sqrt(static_cast<float>(s.cache.head_dim)) / s.data_scale;
  a.soft_cap = s.soft_cap;
  a.window = s.window;
  a.num_threads = 1;
  a.max_length = *std::max_element(s.lengths.begin(), s.lengths.end());
  a.block_table_stride = blocks_of(s, a.max_length) + 1;
}

}  // namespace

size_t DecodeCase::num_rows() const {
  return shape.lengths.size() * static_cast<size_t>(shape.query_tokens * args.num_query_heads);
}

std::vector<float> DecodeCase::output() const {
  std::vector<float> x(num_rows() * static_cast<size_t>(shape.cache.head_dim));
  for (size_t i = 0; i < x.size(); ++i) {
    if (shape.output_type == KVB_FLOAT32) {
      std::memcpy(&x[i], output_bytes.data() + 4 * i, 4);
      continue;
    }
    uint16_t bits;
    std::memcpy(&bits, output_bytes.data() + 2 * i, 2);
    x[i] = shape.output_type == KVB_FLOAT16 ? half_to_float(bits) : bfloat16_to_float(bits);
  }
  return x;
}

DecodeCase make_decode_case(const DecodeShape& shape, uint32_t seed) {
  DecodeShape sized = shape;
  sized.cache.num_blocks = 3;  // never named by a table
  for (const int32_t length : shape.lengths) sized.cache.num_blocks += blocks_of(shape, length);
  DecodeCase c{sized,
               make_cache(sized.cache, kNanCodes),
               {},
               {},
               {},
               AlignedBytes(0),
               AlignedBytes(0),
               {},
               {},
               {},
               {}};
  fill_args(&c);
  std::mt19937 random(seed);
  std::vector<int32_t> blocks;
  for (int32_t i = 0; i < sized.cache.num_blocks; ++i) blocks.push_back(i);
  std::shuffle(blocks.begin(), blocks.end(), random);
  size_t next = 0;
  for (const int32_t length : shape.lengths) {
    for (int64_t i = 0; i < c.args.block_table_stride; ++i)
      c.block_table.push_back(i < blocks_of(shape, length) ? blocks[next++] : 0);
  }
  for (size_t s = 0; s < shape.lengths.size(); ++s) {
    Tokens tokens = make_tokens(shape.lengths[s], sized.cache.num_kv_heads, sized.cache.head_dim,
                                false, seed + 100 + static_cast<uint32_t>(s));
    for (float& x : tokens.keys) x *= shape.data_scale;
    for (float& x : tokens.values) x *= shape.data_scale;
    write_sequence(&c, static_cast<int32_t>(s), tokens);
    c.keys.push_back(std::move(tokens.keys));
    c.values.push_back(std::move(tokens.values));
  }
  std::normal_distribution<float> normal;
  std::vector<float> queries(c.num_rows() * static_cast<size_t>(sized.cache.head_dim));
  for (float& x : queries) x = normal(random);
  c.queries = rounded(queries, shape.query_type);
  c.query_bytes = to_bytes(queries, shape.query_type);
  c.output_bytes =
      AlignedBytes(queries.size() * static_cast<size_t>(element_bytes(shape.output_type)), 0xee);
  c.lse.assign(c.num_rows(), 12345.f);
  for (int32_t head = 0; head < c.args.num_query_heads; ++head)
    c.sinks.push_back(0.5f * static_cast<float>(head) - 1.f);
  c.args.pages = c.cache.pages;
  c.args.queries = c.query_bytes.data();
  c.args.output = c.output_bytes.data();
  c.args.lse = c.lse.data();
  c.args.block_table = c.block_table.data();
  c.args.lengths = c.shape.lengths.data();
  c.args.sinks = shape.sinks ? c.sinks.data() : nullptr;
  return c;
}

std::vector<double> cached_row(const DecodeCase& c, int32_t sequence, int32_t token, int32_t head,
                               bool value) {
  const kvb_pages& p = c.cache.pages;
  const PageRow row = row_of(c, sequence, token, head);
  const auto* codes = static_cast<const uint8_t*>(value ? p.values : p.keys) + row_offset(p, row);
  const void* scales = value ? p.value_scales : p.key_scales;
  double scale = 1.0;
  if (p.scales == KVB_SCALES_TENSOR) scale = static_cast<const float*>(scales)[0];
  if (p.scales == KVB_SCALES_HEAD) scale = static_cast<const float*>(scales)[head];
  if (has_token_scales(p.scales)) {
    const auto* at = static_cast<const uint8_t*>(scales) + scale_offset(p, row);
    float as_float;
    if (p.scales == KVB_SCALES_TOKEN_HEAD_F32) std::memcpy(&as_float, at, 4);
    scale = p.scales == KVB_SCALES_TOKEN_HEAD_F32 ? static_cast<double>(as_float)
                                                  : std::ldexp(1.0, *at - 127);
  }
  std::vector<double> x(static_cast<size_t>(p.head_dim));
  for (size_t d = 0; d < x.size(); ++d) {
    if (p.type == KVB_BFLOAT16) {
      uint16_t bits;
      std::memcpy(&bits, codes + 2 * d, 2);
      x[d] = static_cast<double>(bfloat16_to_float(bits));
      continue;
    }
    const auto unit = static_cast<uint32_t>(d / 16);
    const uint32_t at =
        p.swizzle ? layout::swizzled_unit(unit, static_cast<uint32_t>(row.token)) : unit;
    x[d] = code_value(static_cast<ElementType>(p.type), codes[at * 16 + d % 16]) * scale;
  }
  return x;
}

namespace {

/// K or V of one (sequence, head), all tokens.
std::vector<std::vector<double>> rows(const DecodeCase& c, int32_t sequence, int32_t head,
                                      bool value, Data data) {
  std::vector<std::vector<double>> all;
  const auto dim = static_cast<size_t>(c.shape.cache.head_dim);
  const auto heads = static_cast<size_t>(c.shape.cache.num_kv_heads);
  const auto s = static_cast<size_t>(sequence);
  for (int32_t t = 0; t < c.shape.lengths[s]; ++t) {
    if (data == Data::kCached) {
      all.push_back(cached_row(c, sequence, t, head, value));
      continue;
    }
    const std::vector<float>& from = value ? c.values[s] : c.keys[s];
    const float* row = &from[(static_cast<size_t>(t) * heads + static_cast<size_t>(head)) * dim];
    all.emplace_back(row, row + dim);
  }
  return all;
}

void attend(const DecodeCase& c, const std::vector<std::vector<double>>& keys,
            const std::vector<std::vector<double>>& values, size_t row, int32_t end, int32_t head,
            Attention* result) {
  const auto dim = static_cast<size_t>(c.shape.cache.head_dim);
  const int32_t begin = c.shape.window > 0 ? std::max(0, end - c.shape.window) : 0;
  std::vector<double> scores;
  double top = c.shape.sinks ? static_cast<double>(c.sinks[static_cast<size_t>(head)]) : -1e300;
  for (int32_t t = begin; t < end; ++t) {
    double score = 0;
    for (size_t d = 0; d < dim; ++d)
      score += static_cast<double>(c.queries[row * dim + d]) * keys[static_cast<size_t>(t)][d];
    score *= static_cast<double>(c.args.softmax_scale);
    const auto cap = static_cast<double>(c.shape.soft_cap);
    if (cap > 0) score = cap * std::tanh(score / cap);
    scores.push_back(score);
    top = std::max(top, score);
  }
  double sum =
      c.shape.sinks ? std::exp(static_cast<double>(c.sinks[static_cast<size_t>(head)]) - top) : 0;
  for (const double score : scores) sum += std::exp(score - top);
  for (int32_t t = begin; t < end; ++t) {
    const double weight = std::exp(scores[static_cast<size_t>(t - begin)] - top) / sum;
    for (size_t d = 0; d < dim; ++d)
      result->output[row * dim + d] += weight * values[static_cast<size_t>(t)][d];
  }
  result->lse[row] = sum > 0 ? top + std::log(sum) : -INFINITY;
}

}  // namespace

Attention reference(const DecodeCase& c, Data data) {
  const auto dim = static_cast<size_t>(c.shape.cache.head_dim);
  Attention result{std::vector<double>(c.num_rows() * dim, 0),
                   std::vector<double>(c.num_rows(), 0)};
  for (int32_t s = 0; s < c.args.num_sequences; ++s) {
    for (int32_t head = 0; head < c.shape.cache.num_kv_heads; ++head) {
      const auto keys = rows(c, s, head, false, data);
      const auto values = rows(c, s, head, true, data);
      const int32_t length = c.shape.lengths[static_cast<size_t>(s)];
      for (int32_t i = 0; i < c.shape.query_tokens; ++i) {
        const int32_t end = std::max(0, length - c.shape.query_tokens + i + 1);
        for (int32_t g = 0; g < c.shape.group; ++g) {
          const int32_t query_head = head * c.shape.group + g;
          const auto row = static_cast<size_t>(
              (s * c.shape.query_tokens + i) * c.args.num_query_heads + query_head);
          attend(c, keys, values, row, end, query_head, &result);
        }
      }
    }
  }
  return result;
}

double relative_error(const std::vector<float>& a, const std::vector<double>& b) {
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

}  // namespace kvbudget::kernels::test
