// The rules on the KV cache's dtype and layout, by card, release and model: what the engine's own
// choice of backend comes to (vllm/platforms/cuda.py).

#include "tests/support/catch.h"
#include "tests/support/pod_text.h"

using namespace kvbudget;
using test::PodCase;

namespace {

void check_all(const test::PodCases& cases) { test::check_fired("KVB2", cases); }

constexpr const char* kA100 = "NVIDIA-A100-SXM4-80GB";
constexpr const char* kT4 = "Tesla-T4";
constexpr const char* kL40S = "NVIDIA-L40S";
constexpr const char* kB200 = "NVIDIA-B200";
constexpr const char* kQwen = "Qwen/Qwen2.5-7B-Instruct";
constexpr const char* kPhi3 = "microsoft/Phi-3-mini-4k-instruct";  // heads of 96
constexpr const char* kGptOss = "openai/gpt-oss-20b";
constexpr const char* kDeepSeek = "deepseek-ai/DeepSeek-V2-Lite";
constexpr const char* kFp8 = "--kv-cache-dtype=fp8";
constexpr const char* kE5m2 = "--kv-cache-dtype=fp8_e5m2";

}  // namespace

TEST_CASE("an 8-bit cache needs a backend that has it on the card") {
  check_all({
      {{kA100, "0.19.0", kQwen, {kFp8}}, {}},
      {{kA100, "0.19.0", kQwen, {kFp8, "--attention-backend=TRITON_ATTN"}}, {"KVB201"}},
      {{kA100, "0.19.0", kQwen, {kFp8, "--attention-backend=FLASH_ATTN"}}, {"KVB201"}},
      {{kL40S, "0.19.0", kQwen, {kFp8, "--attention-backend=TRITON_ATTN"}}, {}},
      // FlashInfer has no kernel for heads of 96, and Triton is what is left.
      {{kA100, "0.19.0", kPhi3, {kFp8}}, {"KVB201"}},
      {{kL40S, "0.19.0", kPhi3, {kFp8}}, {}},
      // 0.11.0 takes Triton on all cards but Hopper.
      {{kA100, "0.11.0", kQwen, {kFp8}}, {"KVB201"}},
      {{"NVIDIA-H100-80GB-HBM3", "0.11.0", kQwen, {kFp8}}, {}},
      // FlashInfer leaves Turing in 0.24.
      {{kT4, "0.22.0", "Qwen/Qwen2.5-3B-Instruct", {kFp8}}, {}},
      {{kT4, "0.24.0", "Qwen/Qwen2.5-3B-Instruct", {kFp8}}, {"KVB201"}},
      // FlashAttention 3 accepts e5m2 up to 0.21 and fails on it.
      {{"NVIDIA-H100-80GB-HBM3", "0.19.0", kQwen, {kE5m2}}, {"KVB201"}},
      {{"NVIDIA-H100-80GB-HBM3", "0.22.0", kQwen, {kE5m2}}, {}},
  });
}

TEST_CASE("latent attention has backends of its own") {
  check_all({
      {{kA100, "0.17.0", kDeepSeek, {kFp8}}, {"KVB201"}},
      {{kA100, "0.18.0", kDeepSeek, {kFp8}}, {"KVB204"}},
      {{"NVIDIA-H100-80GB-HBM3", "0.17.0", kDeepSeek, {kFp8}}, {"KVB204"}},
      {{"NVIDIA-H100-80GB-HBM3", "0.19.0", kDeepSeek, {kE5m2}}, {"KVB201"}},
  });
}

TEST_CASE("attention sinks leave Triton alone on cards before Hopper") {
  check_all({
      {{kA100, "0.19.0", kGptOss, {kFp8}}, {"KVB202"}},
      {{kA100, "0.19.0", kGptOss, {}}, {}},
      {{kL40S, "0.19.0", kGptOss, {kFp8}}, {"KVB204"}},
      {{"NVIDIA-H100-80GB-HBM3", "0.19.0", kGptOss, {kFp8}}, {"KVB204"}},
  });
}

TEST_CASE("e5m2 does not go with checkpoints that may hold scales") {
  constexpr const char* kWeightOnly = "RedHatAI/Qwen2.5-7B-Instruct-quantized.w4a16";
  check_all({
      {{kL40S, "0.23.0", kWeightOnly, {kE5m2}}, {"KVB203"}},
      {{kL40S, "0.24.0", kWeightOnly, {kE5m2}}, {}},
      {{kL40S, "0.24.0", "Qwen/Qwen3-8B-FP8", {kE5m2}}, {"KVB203"}},
      {{kL40S, "0.19.0", "Qwen/Qwen2.5-7B-Instruct-AWQ", {kE5m2}}, {}},
  });
}

TEST_CASE("4-bit NVFP4 is for data-centre Blackwell until 0.32") {
  constexpr const char* kNvfp4 = "--kv-cache-dtype=nvfp4";
  check_all({
      {{kB200, "0.24.0", kQwen, {kNvfp4}}, {}},
      {{kB200, "0.20.0", kQwen, {kNvfp4}}, {"KVB205"}},
      {{"NVIDIA-H100-80GB-HBM3", "0.31.0", kQwen, {kNvfp4}}, {"KVB205"}},
      {{"NVIDIA-H100-80GB-HBM3", "0.32.0", kQwen, {kNvfp4}}, {}},
      {{"NVIDIA-H100-80GB-HBM3", "0.19.0", kQwen, {kNvfp4}}, {"KVB207"}},
  });
}

TEST_CASE("dtypes that one backend has cost speed, or do not start") {
  check_all({
      {{kL40S, "0.24.0", kQwen, {"--kv-cache-dtype=int8_per_token_head"}}, {"KVB206"}},
      {{kL40S, "0.24.0", kDeepSeek, {"--kv-cache-dtype=int8_per_token_head"}}, {"KVB206"}},
      {{kL40S, "0.24.0", kQwen, {"--kv-cache-dtype=turboquant_4bit_nc"}}, {"KVB206"}},
      {{kL40S, "0.19.0", kQwen, {"--kv-cache-dtype=turboquant_4bit_nc"}}, {"KVB207"}},
      {{kL40S, "0.14.0", kQwen, {"--kv-cache-dtype=bfloat16"}}, {"KVB207"}},
      {{kL40S, "0.19.0", kQwen, {"--kv-cache-dtype=bfloat16"}}, {}},
      {{kL40S, "0.19.0", kQwen, {"--kv-cache-dtype=int8"}}, {"KVB207"}},
  });
}

TEST_CASE("a block size may rule out the backend that the engine would take") {
  check_all({
      {{kA100, "0.24.0", kQwen, {"--block-size=128"}}, {}},
      {{kA100, "0.24.0", kQwen, {"--block-size=24"}}, {"KVB208"}},
      {{kA100, "0.17.0", kQwen, {"--block-size=8"}}, {}},
      {{kB200, "0.24.0", kDeepSeek, {"--block-size=16"}}, {"KVB208"}},
      {{kB200, "0.24.0", kDeepSeek, {"--block-size=64"}}, {}},
  });
}
