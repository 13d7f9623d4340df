// The kernels on a real GPU, by way of the C ABI alone:
//   kvb_gpu_bench check N   N random cases against the CPU twins, bytes and outputs
//   kvb_gpu_bench time      a table: decode, quantiser and copies in GB/s
// Written where no GPU was at hand: compiled, never run.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/common/float_bits.h"
#include "kernels/include/kvbudget_kernels.h"

using kvbudget::kernels::float_to_bfloat16;

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

void must(int status, const char* what) {
  if (status == KVB_OK) return;
  std::fprintf(stderr, "%s: %s\n", what, kvb_status_name(status));
  std::exit(1);
}

/// The same bytes on both sides.
template <typename T>
class Twin {
 public:
  explicit Twin(size_t count = 0) : host(count) {
    must(cudaMalloc(&device_, std::max<size_t>(1, count) * sizeof(T)), "cudaMalloc");
  }
  ~Twin() { cudaFree(device_); }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  void upload() {
    must(cudaMemcpy(device_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  std::vector<T> download() const {
    std::vector<T> x(host.size());
    must(cudaMemcpy(x.data(), device_, x.size() * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return x;
  }
  T* device() const { return static_cast<T*>(device_); }

  std::vector<T> host;

 private:
  void* device_ = nullptr;
};

struct Shape {
  int32_t dim = 128, heads = 8, group = 8, block_tokens = 16, query_tokens = 1;
  int32_t scales = KVB_SCALES_TOKEN_HEAD_E8M0, window = 0;
  float soft_cap = 0.f;
  std::vector<int32_t> lengths;
};

int multiprocessors() {
  int device = 0;
  int count = 0;
  must(cudaGetDevice(&device), "cudaGetDevice");
  must(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "attribute");
  return count;
}

/// A batch on both sides: pages filled through the quantiser, queries, plan.
class Batch {
 public:
  Batch(const Shape& shape, uint32_t seed);

  void quantize_on_gpu() { must(kvb_quantize_kv(&quantize_, nullptr), "kvb_quantize_kv"); }
  void decode_on_gpu() { must(kvb_decode(&decode_, nullptr), "kvb_decode"); }

  bool same_bytes();
  double decode_error();
  double cache_bytes() const;
  int64_t num_tokens() const { return quantize_.num_tokens; }

 private:
  kvb_pages pages(void* base) const;
  void make_tables(std::mt19937& random);
  void make_quantize();
  void make_decode();

  Shape s_;
  int64_t num_blocks_ = 1;
  int32_t stride_ = 1;  // of the block table
  int64_t tokens_ = 0;
  size_t bytes_ = 0;
  Twin<uint8_t> pages_;
  Twin<uint16_t> values_, queries_;
  Twin<int64_t> slots_;
  Twin<int32_t> table_, lengths_, work_;
  Twin<float> output_, workspace_;
  kvb_quantize_args quantize_{};
  kvb_decode_args decode_{};
};

int32_t longest(const Shape& s) { return *std::max_element(s.lengths.begin(), s.lengths.end()); }

int64_t blocks_of(const Shape& s) {
  int64_t blocks = 1;  // block 0 is nobody's
  for (const int32_t length : s.lengths) blocks += (length + s.block_tokens - 1) / s.block_tokens;
  return blocks;
}

int64_t tokens_of(const Shape& s) {
  int64_t tokens = 0;
  for (const int32_t length : s.lengths) tokens += length;
  return tokens;
}

size_t rows_of(const Shape& s) {
  return s.lengths.size() * static_cast<size_t>(s.query_tokens * s.heads * s.group);
}

constexpr int32_t kCapacity = 16384;

Batch::Batch(const Shape& s, uint32_t seed)
    : s_(s),
      num_blocks_(blocks_of(s)),
      stride_((longest(s) + s.block_tokens - 1) / s.block_tokens + 1),
      tokens_(tokens_of(s)),
      bytes_(static_cast<size_t>(kvb_page_bytes(s.block_tokens, s.dim, s.scales) * s.heads *
                                 blocks_of(s))),
      pages_(bytes_),
      values_(static_cast<size_t>(tokens_) * s.heads * s.dim),
      queries_(rows_of(s) * s.dim),
      slots_(static_cast<size_t>(tokens_)),
      table_(s.lengths.size() * stride_),
      lengths_(s.lengths.size()),
      work_(s.lengths.size() + 1 + 2 * kCapacity),
      output_(rows_of(s) * s.dim),
      workspace_(static_cast<size_t>(kCapacity) * s.query_tokens * s.heads * s.group *
                 (s.dim + 2)) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  // One block of random numbers, repeated: a generator would take minutes for gigabytes.
  std::vector<uint16_t> noise(1 << 20);
  for (uint16_t& x : noise) x = static_cast<uint16_t>(float_to_bfloat16(normal(random)));
  for (size_t i = 0; i < values_.host.size(); ++i) values_.host[i] = noise[(i * 31) % noise.size()];
  for (size_t i = 0; i < queries_.host.size(); ++i) queries_.host[i] = noise[i % noise.size()];
  std::fill(pages_.host.begin(), pages_.host.end(), uint8_t{0xff});  // NaN codes everywhere
  lengths_.host = s.lengths;
  make_tables(random);
  pages_.upload();
  values_.upload();
  queries_.upload();
  slots_.upload();
  table_.upload();
  lengths_.upload();
  make_quantize();
  make_decode();
}

kvb_pages Batch::pages(void* base) const {
  kvb_pages p;
  must(kvb_pages_p1(base, num_blocks_, s_.heads, s_.block_tokens, s_.dim, s_.scales, 0, &p),
       "kvb_pages_p1");
  return p;
}

void Batch::make_tables(std::mt19937& random) {
  std::vector<int32_t> blocks;
  for (int32_t i = 1; i < num_blocks_; ++i) blocks.push_back(i);
  std::shuffle(blocks.begin(), blocks.end(), random);
  size_t next = 0;
  size_t token = 0;
  for (size_t s = 0; s < s_.lengths.size(); ++s) {
    for (int32_t t = 0; t < s_.lengths[s]; ++t) {
      int32_t& block = table_.host[s * stride_ + t / s_.block_tokens];
      if (t % s_.block_tokens == 0) block = blocks[next++];
      slots_.host[token++] = int64_t{block} * s_.block_tokens + t % s_.block_tokens;
    }
  }
}

void Batch::make_quantize() {
  kvb_quantize_args& a = quantize_;
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.pages = pages(pages_.device());
  a.keys = a.values = values_.device();
  a.key_token_stride = a.value_token_stride = int64_t{s_.heads} * s_.dim;
  a.key_head_stride = a.value_head_stride = s_.dim;
  a.slots = slots_.device();
  a.num_tokens = tokens_;
  a.type = KVB_BFLOAT16;
}

void Batch::make_decode() {
  kvb_decode_args& a = decode_;
  a.struct_bytes = sizeof a;
  a.abi_version = KVB_ABI_VERSION;
  a.pages = pages(pages_.device());
  a.queries = queries_.device();
  a.output = output_.device();
  a.query_head_stride = a.output_head_stride = s_.dim;
  a.query_token_stride = a.output_token_stride = int64_t{s_.heads} * s_.group * s_.dim;
  a.block_table = table_.device();
  a.block_table_stride = stride_;
  a.num_sequences = static_cast<int32_t>(s_.lengths.size());
  a.num_query_heads = s_.heads * s_.group;
  a.query_tokens = s_.query_tokens;
  a.query_type = KVB_BFLOAT16;
  a.output_type = KVB_FLOAT32;
  a.softmax_scale = 1.f / std::sqrt(static_cast<float>(s_.dim));
  a.soft_cap = s_.soft_cap;
  a.window = s_.window;
  a.max_length = longest(s_);
  a.lengths = lengths_.host.data();  // the planner reads them here
  must(kvb_plan_decode(&a, 4 * multiprocessors(), work_.host.data(), kCapacity, &a.plan), "plan");
  a.plan.num_work = work_.host[s_.lengths.size()];
  work_.upload();
  a.plan.work = work_.device();
  a.plan.workspace = workspace_.device();
  a.plan.workspace_bytes = static_cast<int64_t>(workspace_.host.size() * sizeof(float));
  a.lengths = lengths_.device();
}

/// Quantises on the CPU too; all bytes of the cache must be equal.
bool Batch::same_bytes() {
  kvb_quantize_args a = quantize_;
  a.pages = pages(pages_.host.data());
  a.keys = a.values = values_.host.data();
  a.slots = slots_.host.data();
  must(kvb_quantize_kv_cpu(&a, nullptr), "kvb_quantize_kv_cpu");
  return pages_.download() == pages_.host;
}

/// Relative L2 of the GPU's output against the CPU's, over the same pages.
double Batch::decode_error() {
  kvb_decode_args a = decode_;
  a.pages = pages(pages_.host.data());
  a.queries = queries_.host.data();
  a.output = output_.host.data();
  a.block_table = table_.host.data();
  a.lengths = lengths_.host.data();
  must(kvb_decode_cpu(&a, nullptr), "kvb_decode_cpu");
  const std::vector<float> ours = output_.download();
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    difference += std::pow(static_cast<double>(ours[i]) - output_.host[i], 2);
    size += std::pow(static_cast<double>(output_.host[i]), 2);
  }
  return size > 0 ? std::sqrt(difference / size) : difference;  // NaN fails every comparison
}

double Batch::cache_bytes() const {
  const double scale = s_.scales == KVB_SCALES_TOKEN_HEAD_E8M0 ? 2 : 0;
  return static_cast<double>(tokens_) * s_.heads * (2.0 * s_.dim + scale);
}

int check(int rounds) {
  std::random_device seed;  // fresh cases each time; the seed is printed
  int failed = 0;
  for (int round = 0; round < rounds; ++round) {
    const uint32_t number = seed();
    std::mt19937 random(number);
    Shape s;
    const int32_t dims[] = {64, 96, 128, 256};
    const int32_t blocks[] = {16, 32, 64, 128};
    s.dim = dims[random() % 4];
    s.block_tokens = blocks[random() % 4];
    s.heads = static_cast<int32_t>(1 + random() % 4);
    s.group = static_cast<int32_t>(1 + random() % 16);
    s.query_tokens = static_cast<int32_t>(1 + random() % 8);
    s.scales = random() % 2 != 0 ? KVB_SCALES_TOKEN_HEAD_E8M0 : KVB_SCALES_NONE;
    s.window = random() % 3 == 0 ? 200 : 0;
    s.soft_cap = random() % 4 == 0 ? 30.f : 0.f;
    for (size_t i = 0; i < 1 + random() % 5; ++i)
      s.lengths.push_back(static_cast<int32_t>(8 + random() % 3000));
    Batch batch(s, number);
    batch.quantize_on_gpu();
    const bool same = batch.same_bytes();
    batch.decode_on_gpu();
    const double error = batch.decode_error();
    const bool good = same && error < 2e-3;
    if (!good) ++failed;
    std::printf("%s seed %u: D %d, block %d, heads %d x %d, queries %d, bytes %s, decode %.1e\n",
                good ? "ok  " : "FAIL", number, s.dim, s.block_tokens, s.heads, s.group,
                s.query_tokens, same ? "equal" : "differ", error);
  }
  return failed == 0 ? 0 : 1;
}

/// Median of 50, in seconds.
template <typename Work>
double median_seconds(const Work& work) {
  cudaEvent_t start, stop;
  must(cudaEventCreate(&start), "event");
  must(cudaEventCreate(&stop), "event");
  std::vector<float> times;
  for (int i = 0; i < 55; ++i) {
    must(cudaEventRecord(start), "event");
    work();
    must(cudaEventRecord(stop), "event");
    must(cudaEventSynchronize(stop), "wait");
    float milliseconds = 0;
    must(cudaEventElapsedTime(&milliseconds, start, stop), "event");
    if (i >= 5) times.push_back(milliseconds);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2] / 1e3;
}

int time_all() {
  constexpr size_t kCopy = size_t{1} << 30;
  {
    Twin<uint8_t> from(kCopy), to(kCopy);
    const double seconds = median_seconds([&] {
      must(cudaMemcpyAsync(to.device(), from.device(), kCopy, cudaMemcpyDeviceToDevice), "copy");
    });
    std::printf("device copy: %.0f GB/s read and written\n\n", 2.0 * kCopy / seconds / 1e9);
  }
  std::printf("| sequences | tokens | scales | decode us | GB/s | quantise GB/s |\n");
  std::printf("|---|---|---|---|---|---|\n");
  // 8 KV heads of 128 with 8 queries each; every cache but the first is beyond the second-level
  // cache.
  const std::pair<int, int> loads[] = {{1, 16384}, {1, 65536}, {1, 262144},
                                       {8, 32768}, {64, 8192}, {256, 2048}};
  for (const auto& [sequences, tokens] : loads) {
    for (const int32_t scales : {KVB_SCALES_NONE, KVB_SCALES_TOKEN_HEAD_E8M0}) {
      Shape s;
      s.scales = scales;
      s.lengths.assign(static_cast<size_t>(sequences), tokens);
      Batch batch(s, 1);
      const double write = median_seconds([&] { batch.quantize_on_gpu(); });
      const double decode = median_seconds([&] { batch.decode_on_gpu(); });
      const double elements = static_cast<double>(batch.num_tokens()) * s.heads * s.dim * 2;
      std::printf("| %d | %d | %s | %.1f | %.0f | %.0f |\n", sequences, tokens,
                  scales == KVB_SCALES_NONE ? "static" : "token-head", decode * 1e6,
                  batch.cache_bytes() / decode / 1e9, elements * 3 / write / 1e9);
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%s\n", kvb_cuda_state());
  if (std::strcmp(kvb_cuda_state(), "cuda: available") != 0) return 77;
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "check") return check(argc > 2 ? std::atoi(argv[2]) : 40);
  if (command == "time") return time_all();
  std::fprintf(stderr, "usage: kvb_gpu_bench check [N] | time\n");
  return 2;
}
