// kvbudget._kernels: libkvbudget_kernels.so for Python. Pointers and strides are integers, as
// tensors of any framework have them; nothing of a framework is included or linked. What the
// library refuses is an exception with its words.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/include/kvbudget_kernels.h"

namespace nb = nanobind;

namespace {

using Strides = std::pair<int64_t, int64_t>;  ///< of tokens and of heads, in elements

template <typename T>
T* at(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

void* stream_of(uintptr_t stream) { return at<void>(stream); }

template <typename Struct>
Struct with_head() {
  Struct s{};
  s.struct_bytes = sizeof s;
  s.abi_version = KVB_ABI_VERSION;
  return s;
}

void check(int status, const char* what, const char* why) {
  if (status == KVB_OK) return;
  throw std::runtime_error(std::string(what) + ": " + kvb_status_name(status) +
                           (why != nullptr ? std::string(": ") + why : std::string()));
}

/// A layer's cache. Strides in bytes; those of scales only where they lie in the pages.
struct Pages {
  kvb_pages pages = with_head<kvb_pages>();

  Pages(uintptr_t keys, uintptr_t values, int64_t block_stride, int64_t head_stride,
        int64_t token_stride, int64_t num_blocks, int32_t num_kv_heads, int32_t block_tokens,
        int32_t head_dim, int32_t type, int32_t scales, uintptr_t key_scales,
        uintptr_t value_scales, int64_t scale_token_stride) {
    pages.keys = at<void>(keys);
    pages.values = at<void>(values);
    pages.block_stride = block_stride;
    pages.head_stride = head_stride;
    pages.token_stride = token_stride;
    pages.num_blocks = num_blocks;
    pages.num_kv_heads = num_kv_heads;
    pages.block_tokens = block_tokens;
    pages.head_dim = head_dim;
    pages.type = type;
    pages.scales = scales;
    pages.key_scales = at<void>(key_scales);
    pages.value_scales = at<void>(value_scales);
    if (scale_token_stride != 0) {
      pages.scale_block_stride = block_stride;
      pages.scale_head_stride = head_stride;
      pages.scale_token_stride = scale_token_stride;
    }
    if (const char* why = kvb_explain_pages(&pages)) throw std::invalid_argument(why);
  }
};

/// Returns how many NaN values were written as 0; on the GPU they are added to `nan_count`.
uint64_t quantize(const Pages& pages, uintptr_t keys, uintptr_t values, const Strides& key_strides,
                  const Strides& value_strides, uintptr_t slots, int64_t num_tokens, int32_t type,
                  int32_t threads, bool on_gpu, uintptr_t nan_count, uintptr_t stream) {
  uint64_t nans = 0;
  auto a = with_head<kvb_quantize_args>();
  a.pages = pages.pages;
  a.keys = at<void>(keys);
  a.values = at<void>(values);
  a.key_token_stride = key_strides.first;
  a.key_head_stride = key_strides.second;
  a.value_token_stride = value_strides.first;
  a.value_head_stride = value_strides.second;
  a.slots = at<int64_t>(slots);
  a.num_tokens = num_tokens;
  a.nan_count = on_gpu ? at<uint64_t>(nan_count) : &nans;
  a.type = type;
  a.num_threads = threads;
  const int status =
      on_gpu ? kvb_quantize_kv(&a, stream_of(stream)) : kvb_quantize_kv_cpu(&a, nullptr);
  check(status, "quantize_kv", kvb_explain_quantize_kv(&a));
  return nans;
}

/// One step of attention: filled in from Python, then planned (GPU) and run.
struct Decode {
  kvb_decode_args args = with_head<kvb_decode_args>();

  Decode(const Pages& pages, int32_t num_query_heads, float softmax_scale, float soft_cap,
         int32_t window, int32_t type) {
    args.pages = pages.pages;
    args.num_query_heads = num_query_heads;
    args.softmax_scale = softmax_scale;
    args.soft_cap = soft_cap;
    args.window = window;
    args.query_type = type;
    args.output_type = type;
  }

  void tensors(uintptr_t queries, const Strides& query_strides, uintptr_t output,
               const Strides& output_strides, uintptr_t sinks) {
    args.queries = at<void>(queries);
    args.query_token_stride = query_strides.first;
    args.query_head_stride = query_strides.second;
    args.output = at<void>(output);
    args.output_token_stride = output_strides.first;
    args.output_head_stride = output_strides.second;
    args.sinks = at<float>(sinks);
  }

  void batch(uintptr_t block_table, int64_t block_table_stride, uintptr_t lengths,
             uintptr_t query_starts, int32_t num_sequences, int32_t query_tokens,
             int32_t max_length) {
    args.block_table = at<int32_t>(block_table);
    args.block_table_stride = block_table_stride;
    args.lengths = at<int32_t>(lengths);
    args.query_starts = at<int32_t>(query_starts);
    args.num_sequences = num_sequences;
    args.query_tokens = query_tokens;
    args.max_length = max_length;
  }

  void run_cpu(int32_t threads) {
    args.num_threads = threads;
    check(kvb_decode_cpu(&args, nullptr), "decode", kvb_explain_decode(&args));
  }

  /// For `lengths` and `query_starts` in host memory; (split tokens, bytes of workspace).
  std::pair<int32_t, int64_t> plan(uintptr_t lengths, uintptr_t query_starts, int32_t target_ctas,
                                   uintptr_t work, int32_t capacity) {
    kvb_decode_args host = args;
    host.lengths = at<int32_t>(lengths);
    host.query_starts = at<int32_t>(query_starts);
    auto planned = with_head<kvb_decode_plan>();
    check(kvb_plan_decode(&host, target_ctas, at<int32_t>(work), capacity, &planned), "plan_decode",
          kvb_explain_decode(&host));
    return {planned.split_tokens, planned.workspace_bytes};
  }

  void run_gpu(uintptr_t work, int32_t capacity, int32_t split_tokens, uintptr_t workspace,
               int64_t workspace_bytes, uintptr_t stream) {
    args.plan = with_head<kvb_decode_plan>();
    args.plan.work = at<int32_t>(work);
    args.plan.num_work = capacity;
    args.plan.split_tokens = split_tokens;
    args.plan.workspace = at<void>(workspace);
    args.plan.workspace_bytes = workspace_bytes;
    check(kvb_decode(&args, stream_of(stream)), "decode", kvb_explain_decode(&args));
  }
};

}  // namespace

NB_MODULE(_kernels, m) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  m.attr("FLOAT32") = static_cast<int>(KVB_FLOAT32);
  m.attr("FLOAT16") = static_cast<int>(KVB_FLOAT16);
  m.attr("BFLOAT16") = static_cast<int>(KVB_BFLOAT16);
  m.attr("FLOAT8_E4M3") = static_cast<int>(KVB_FLOAT8_E4M3);
  m.attr("FLOAT8_E5M2") = static_cast<int>(KVB_FLOAT8_E5M2);
  m.attr("SCALES_TENSOR") = static_cast<int>(KVB_SCALES_TENSOR);
  m.attr("SCALES_HEAD") = static_cast<int>(KVB_SCALES_HEAD);
  m.attr("SCALES_TOKEN_HEAD_F32") = static_cast<int>(KVB_SCALES_TOKEN_HEAD_F32);
  m.def("abi_version", &kvb_abi_version);
  m.def("cpu_isa", [] { return std::string(kvb_cpu_isa()); });
  m.def("cuda_state", [] { return std::string(kvb_cuda_state()); });

  nb::class_<Pages>(m, "Pages")
      .def(nb::init<uintptr_t, uintptr_t, int64_t, int64_t, int64_t, int64_t, int32_t, int32_t,
                    int32_t, int32_t, int32_t, uintptr_t, uintptr_t, int64_t>(),
           nb::arg("keys"), nb::arg("values"), nb::arg("block_stride"), nb::arg("head_stride"),
           nb::arg("token_stride"), nb::arg("num_blocks"), nb::arg("num_kv_heads"),
           nb::arg("block_tokens"), nb::arg("head_dim"), nb::arg("type"), nb::arg("scales"),
           nb::arg("key_scales"), nb::arg("value_scales"), nb::arg("scale_token_stride") = 0);
  m.def("quantize", &quantize, nb::arg("pages"), nb::arg("keys"), nb::arg("values"),
        nb::arg("key_strides"), nb::arg("value_strides"), nb::arg("slots"), nb::arg("num_tokens"),
        nb::arg("type"), nb::arg("threads") = 0, nb::arg("on_gpu") = false,
        nb::arg("nan_count") = 0, nb::arg("stream") = 0, Unlocked());
  nb::class_<Decode>(m, "Decode")
      .def(nb::init<const Pages&, int32_t, float, float, int32_t, int32_t>(), nb::arg("pages"),
           nb::arg("num_query_heads"), nb::arg("softmax_scale"), nb::arg("soft_cap"),
           nb::arg("window"), nb::arg("type"))
      .def("tensors", &Decode::tensors)
      .def("batch", &Decode::batch)
      .def("run_cpu", &Decode::run_cpu, Unlocked())
      .def("plan", &Decode::plan)
      .def("run_gpu", &Decode::run_gpu, Unlocked());
}
