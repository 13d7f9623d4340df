// libkvbudget_kernels.so as a program without a GPU finds it.
#include <dlfcn.h>

#include <string>

#include "kernels/common/cpu_isa.h"
#include "kernels/include/kvbudget_kernels.h"
#include "tests/support/catch.h"

namespace {

class Library {
 public:
  Library() : handle_(dlopen(KVB_KERNELS_LIBRARY, RTLD_NOW | RTLD_LOCAL)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool is_open() const { return handle_ != nullptr; }

  template <typename Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

}  // namespace

TEST_CASE("The library loads, knows its ABI and says whether there is a GPU") {
  const Library library;
  REQUIRE(library.is_open());
  CHECK(library.find<decltype(kvb_abi_version)>("kvb_abi_version")() == KVB_ABI_VERSION);
  const std::string state = library.find<decltype(kvb_cuda_state)>("kvb_cuda_state")();
  CHECK((state == "cuda: available" || state.rfind("cuda: unavailable (", 0) == 0));
  for (const char* name : {"kvb_quantize_kv", "kvb_quantize_kv_cpu", "kvb_decode", "kvb_decode_cpu",
                           "kvb_plan_decode", "kvb_pages_p1", "kvb_explain_decode"})
    CHECK(library.find<void()>(name) != nullptr);
}

TEST_CASE("A setting lowers the instruction set, and one that is not known does not") {
  using namespace kvbudget::kernels;
  CHECK(most_allowed("portable") == CpuIsa::kPortable);
  CHECK(most_allowed("avx2") == CpuIsa::kAvx2);
  CHECK(most_allowed("avx512") == CpuIsa::kAvx512);
  for (const char* none : {"avx512_bf16", "AVX2", "sse", ""})
    CHECK(most_allowed(none) == CpuIsa::kAvx512Bf16);
  CHECK(most_allowed(nullptr) == CpuIsa::kAvx512Bf16);
}
