// CPU decode of 32,768 tokens of 8 KV heads, head dimension 128 (64 MiB of codes), beside the two
// limits of the machine measured in the same run: reading the same bytes, and fused multiply-adds
// in registers (4 x G x D FLOP per token and head); and beside our own loop over bfloat16 pages.
// Measurements take turns and the best of each counts: what else runs here only adds.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/bench/limits.h"
#include "kernels/common/check.h"
#include "kernels/common/float_bits.h"
#include "kernels/common/page_row.h"
#include "kernels/common/parallel_for.h"
#include "kernels/decode/decode_cpu.h"
#include "kernels/mla/decode_mla.h"

using namespace kvbudget::kernels;

namespace {

constexpr int32_t kHeads = 8;
constexpr int32_t kDim = 128;
constexpr int32_t kTokens = 32768;
constexpr int32_t kBlockTokens = 16;
constexpr int32_t kBlocks = kTokens / kBlockTokens;
constexpr int kRounds = 25;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Memory in huge pages, as a cache should be: with 4 KiB pages every block costs a table walk.
class HugeBytes {
 public:
  void resize(size_t bytes) {
    constexpr size_t kHuge = size_t{2} << 20;
    bytes_ = bytes;
    const size_t whole = (bytes + kHuge - 1) / kHuge * kHuge;
    data_.reset(static_cast<uint8_t*>(std::aligned_alloc(kHuge, whole)));
    if (data_ == nullptr) std::abort();
    madvise(data_.get(), whole, MADV_HUGEPAGE);
    std::memset(data_.get(), 0, whole);
  }
  uint8_t* data() const { return data_.get(); }
  size_t size() const { return bytes_; }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  size_t bytes_ = 0;
};

/// A cache whose blocks are handed out in a shuffled order, as after hours of serving.
struct Bench {
  std::vector<uint16_t> tokens;  // [tokens, heads, dim] bfloat16, keys and values alike
  HugeBytes fp8_bytes, wide_bytes;
  kvb_pages fp8{}, wide{};
  std::vector<int32_t> block_table;
  std::vector<uint16_t> queries;
  std::vector<float> output;

  Bench();
  void fill_wide();
  kvb_decode_args args(const kvb_pages& pages, int32_t group, int32_t threads);
};

void must(int status, const char* what) {
  if (status == KVB_OK) return;
  std::fprintf(stderr, "%s: %s\n", what, kvb_status_name(status));
  std::abort();
}

Bench::Bench() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  tokens.resize(static_cast<size_t>(kTokens) * kHeads * kDim);
  for (uint16_t& x : tokens) x = static_cast<uint16_t>(float_to_bfloat16(normal(random)));
  queries.resize(static_cast<size_t>(kHeads) * 16 * kDim);
  for (uint16_t& x : queries) x = static_cast<uint16_t>(float_to_bfloat16(normal(random)));
  output.resize(queries.size());
  for (int32_t i = 0; i < kBlocks; ++i) block_table.push_back(i);
  std::shuffle(block_table.begin(), block_table.end(), random);

  const auto page =
      static_cast<size_t>(kvb_page_bytes(kBlockTokens, kDim, KVB_SCALES_TOKEN_HEAD_E8M0));
  fp8_bytes.resize(page * kHeads * kBlocks);
  must(kvb_pages_p1(fp8_bytes.data(), kBlocks, kHeads, kBlockTokens, kDim,
                    KVB_SCALES_TOKEN_HEAD_E8M0, 0, &fp8),
       "pages");
  std::vector<int64_t> slots;
  for (int32_t t = 0; t < kTokens; ++t)
    slots.push_back(int64_t{block_table[static_cast<size_t>(t / kBlockTokens)]} * kBlockTokens +
                    t % kBlockTokens);
  kvb_quantize_args q{};
  q.struct_bytes = sizeof q;
  q.abi_version = KVB_ABI_VERSION;
  q.pages = fp8;
  q.keys = q.values = tokens.data();
  q.key_token_stride = q.value_token_stride = kHeads * kDim;
  q.key_head_stride = q.value_head_stride = kDim;
  q.slots = slots.data();
  q.num_tokens = kTokens;
  q.type = KVB_BFLOAT16;
  must(kvb_quantize_kv_cpu(&q, nullptr), "quantise");
  fill_wide();
}

/// The same pages in bfloat16.
void Bench::fill_wide() {
  wide_bytes.resize(static_cast<size_t>(kTokens) * kHeads * kDim * 4);
  wide = fp8;
  wide.type = KVB_BFLOAT16;
  wide.scales = KVB_SCALES_NONE;
  uint8_t* base = wide_bytes.data();
  wide.keys = base;
  wide.values = base + kDim * 2;
  wide.token_stride = kDim * 4;
  wide.head_stride = kDim * 4 * kBlockTokens;
  wide.block_stride = wide.head_stride * kHeads;
  for (int32_t t = 0; t < kTokens; ++t) {
    for (int32_t h = 0; h < kHeads; ++h) {
      const PageRow row{block_table[static_cast<size_t>(t / kBlockTokens)], h, t % kBlockTokens};
      const uint16_t* from =
          &tokens[(static_cast<size_t>(t) * kHeads + static_cast<size_t>(h)) * kDim];
      for (void* side : {wide.keys, wide.values})
        memcpy(static_cast<uint8_t*>(side) + row_offset(wide, row), from, kDim * 2);
    }
  }
}

kvb_decode_args Bench::args(const kvb_pages& pages, int32_t group, int32_t threads) {
  static const int32_t length = kTokens;
  kvb_decode_args a{};
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.pages = pages;
  a.queries = queries.data();
  a.output = output.data();
  a.query_head_stride = a.output_head_stride = kDim;
  a.query_token_stride = a.output_token_stride = kDim * kHeads * group;
  a.block_table = block_table.data();
  a.block_table_stride = kBlocks;
  a.lengths = &length;
  a.num_sequences = 1;
  a.num_query_heads = kHeads * group;
  a.query_tokens = 1;
  a.query_type = KVB_BFLOAT16;
  a.output_type = KVB_FLOAT32;
  a.softmax_scale = 0.088388348f;
  a.num_threads = threads;
  a.max_length = kTokens;
  return a;
}

/// Reads the bytes of all pages once.
uint64_t read_all(const HugeBytes& bytes, int32_t threads) {
  constexpr size_t kPiece = 512 * 1024;
  std::vector<uint64_t> sums(bytes.size() / kPiece, 0);
  parallel_for(threads, static_cast<int64_t>(sums.size()), [&](int64_t i) {
    const auto* words =
        reinterpret_cast<const uint64_t*>(bytes.data() + static_cast<size_t>(i) * kPiece);
    uint64_t sum = 0;
    for (size_t k = 0; k < kPiece / 8; ++k) sum ^= words[k];
    sums[static_cast<size_t>(i)] = sum;
  });
  uint64_t sum = 0;
  for (const uint64_t x : sums) sum ^= x;
  return sum;
}

FmaLoop fma_loop(CpuIsa isa) {
  return isa == CpuIsa::kAvx512Bf16 || isa == CpuIsa::kAvx512 ? fma_loop_avx512()
         : isa == CpuIsa::kAvx2                               ? fma_loop_avx2()
                                                              : fma_loop_portable();
}

double flop_per_second(FmaLoop loop, int32_t threads) {
  constexpr int64_t kSteps = 40000;
  std::vector<float> sinks(static_cast<size_t>(threads) * 64, 1e-3f);
  std::vector<double> done(static_cast<size_t>(threads), 0);
  const double time = seconds([&] {
    parallel_for(threads, threads, [&](int64_t i) {
      done[static_cast<size_t>(i)] = loop(kSteps, &sinks[static_cast<size_t>(i) * 64]);
    });
  });
  double total = 0;
  for (const double d : done) total += d;
  return total / time;
}

struct Best {
  double read = 1e9, flops = 0, fp8 = 1e9, wide = 1e9;
};

Best measure(Bench& bench, CpuIsa isa, int32_t group, int32_t threads) {
  Best best;
  const kvb_decode_args narrow = bench.args(bench.fp8, group, threads);
  const kvb_decode_args wide = bench.args(bench.wide, group, threads);
  volatile uint64_t sink = 0;
  for (int round = 0; round < kRounds; ++round) {
    best.read = std::min(best.read, seconds([&] { sink = read_all(bench.fp8_bytes, threads); }));
    best.flops = std::max(best.flops, flop_per_second(fma_loop(isa), threads));
    best.fp8 = std::min(best.fp8, seconds([&] { must(decode_cpu(narrow, isa), "decode"); }));
    best.wide = std::min(best.wide, seconds([&] { must(decode_cpu(wide, isa), "decode"); }));
  }
  return best;
}

void print_row(const Best& best, CpuIsa isa, int32_t group, int32_t threads) {
  const double bytes = static_cast<double>(kTokens) * kHeads * kDim * 2;
  const double flop = 4.0 * group * kDim * kTokens * kHeads;
  const double arithmetic = flop / best.flops;
  const double limit = std::max(best.read, arithmetic);
  std::printf(
      "| %-11s | %d | %d | %6.2f | %6.2f | %6.2f | %4.0f %% of %-4s | %6.1f | %6.2f | %4.2f |\n",
      name(isa), group, threads, best.fp8 * 1e3, best.read * 1e3, arithmetic * 1e3,
      100 * limit / best.fp8, best.read > arithmetic ? "read" : "FMA", bytes / best.fp8 / 1e9,
      best.wide * 1e3, best.wide / best.fp8);
  std::fflush(stdout);
}

/// MLA: all heads share each token's 656 bytes, so arithmetic is the only limit.
class MlaBench {
 public:
  MlaBench() {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    std::vector<float> latent(size_t{kMlaTokens} * 512), rope(size_t{kMlaTokens} * 64);
    for (float& x : latent) x = normal(random);
    for (float& x : rope) x = normal(random);
    for (uint16_t& x : queries_) x = static_cast<uint16_t>(float_to_bfloat16(normal(random)));
    std::vector<int64_t> slots;
    for (int32_t t = 0; t < kMlaTokens; ++t) slots.push_back(t);
    for (int32_t block = 0; block < kMlaTokens / kMlaBlock; ++block) table_.push_back(block);
    kvb_mla_args a{};
    a.struct_bytes = sizeof a;
    a.abi_version = KVB_ABI_VERSION;
    a.cache = cache_.data();
    a.token_stride = kEntry;
    a.block_stride = kEntry * kMlaBlock;
    a.num_blocks = kMlaTokens / kMlaBlock;
    a.block_tokens = kMlaBlock;
    a.latent = latent.data();
    a.rope = rope.data();
    a.latent_stride = 512;
    a.rope_stride = 64;
    a.slots = slots.data();
    a.num_tokens = kMlaTokens;
    a.type = KVB_FLOAT32;
    must(kvb_write_mla_cpu(&a, nullptr), "write MLA");
  }

  void print_row(CpuIsa isa, int32_t heads, int32_t threads) {
    kvb_decode_mla_args a{};
    a.struct_bytes = sizeof a;
    a.abi_version = KVB_ABI_VERSION;
    a.cache = cache_.data();
    a.token_stride = kEntry;
    a.block_stride = kEntry * kMlaBlock;
    a.num_blocks = kMlaTokens / kMlaBlock;
    a.block_tokens = kMlaBlock;
    a.queries = queries_.data();
    a.output = output_.data();
    a.query_head_stride = a.query_token_stride = 576;
    a.output_head_stride = a.output_token_stride = 512;
    a.block_table = table_.data();
    a.block_table_stride = static_cast<int64_t>(table_.size());
    a.lengths = &length_;
    a.num_sequences = 1;
    a.num_query_heads = heads;
    a.query_tokens = 1;
    a.query_type = KVB_BFLOAT16;
    a.output_type = KVB_FLOAT32;
    a.max_length = kMlaTokens;
    a.softmax_scale = 0.07f;
    a.num_threads = threads;
    double best = 1e9;
    double flops = 0;
    for (int round = 0; round < kRounds; ++round) {
      flops = std::max(flops, flop_per_second(fma_loop(isa), threads));
      best = std::min(best, seconds([&] { must(decode_mla(a, isa), "decode MLA"); }));
    }
    const double limit = 2.0 * (576 + 512) * heads * kMlaTokens / flops;
    std::printf("| %-11s | %3d | %d | %6.2f | %6.2f | %3.0f %% |\n", name(isa), heads, threads,
                best * 1e3, limit * 1e3, 100 * limit / best);
    std::fflush(stdout);
  }

 private:
  static constexpr int32_t kMlaTokens = 4096;
  static constexpr int32_t kMlaBlock = 64;
  static constexpr int64_t kEntry = 656;

  std::vector<uint8_t> cache_ = std::vector<uint8_t>(size_t{kMlaTokens} * kEntry);
  std::vector<uint16_t> queries_ = std::vector<uint16_t>(128 * 576);
  std::vector<float> output_ = std::vector<float>(128 * 512);
  std::vector<int32_t> table_;
  int32_t length_ = kMlaTokens;
};

}  // namespace

int main() {
  Bench bench;
  std::printf("D 128, 8 KV heads, 32768 tokens, 64 MiB of codes; times in ms, best of %d\n\n",
              kRounds);
  std::printf(
      "| ISA         | G | threads | FP8 | read limit | FMA limit | of the tighter | GB/s | bf16 | "
      "bf16 / FP8 |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  for (const CpuIsa isa : {CpuIsa::kAvx512Bf16, CpuIsa::kAvx512, CpuIsa::kAvx2}) {
    if (!cpu_supports(isa)) continue;
    for (const int32_t threads : {1, 2})
      for (const int32_t group : {1, 4, 8})
        print_row(measure(bench, isa, group, threads), isa, group, threads);
  }
  MlaBench mla;
  std::printf("\nMLA, 4096 tokens\n\n| ISA         | heads | threads | ms | FMA limit | of it |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const CpuIsa isa : {CpuIsa::kAvx512, CpuIsa::kAvx2}) {
    if (!cpu_supports(isa)) continue;
    for (const int32_t threads : {1, 2})
      for (const int32_t heads : {16, 128}) mla.print_row(isa, heads, threads);
  }
  return 0;
}
