#!/usr/bin/env bash
# One command for a machine with CUDA: builds, checks against the CPU twins, sanitises, times; the
# limits of its steps add up to 490 seconds, the table is last. Never touches clocks. Written where no
# GPU was at hand: never run on one.
#
#   kernels/bench/gpu.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$root/build/gpu

command -v nvcc >/dev/null || { echo "gpu.sh: no nvcc" >&2; exit 3; }
if [ ! -e "$folder/kvb_gpu_bench" ]; then
  mkdir -p "$folder"
  # This machine's architecture alone, and no build system: a minute instead of four.
  flags=(-std=c++17 -O3 -arch=native --expt-relaxed-constexpr -I "$root")
  host=(-std=c++20 -O3 -ffp-contract=off -I "$root")
  cd "$folder"
  for source in "$root"/kernels/*/*.cu; do
    echo "nvcc ${flags[*]@Q} -c '$source' -o cu_$(basename "$source").o"
  done >jobs
  for source in "$root"/kernels/{common,decode,mla,pages,quantize}/*.cc; do
    case $source in
      */no_cuda.cc) continue ;;
      *_avx2.cc) isa="-mavx2 -mfma -mf16c" ;;
      *_avx512.cc) isa="-mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi" ;;
      *_avx512_bf16.cc) isa="-mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi -mavx512bf16" ;;
      *) isa="" ;;
    esac
    echo "g++ ${host[*]@Q} $isa -c '$source' -o cc_$(basename "$source").o"
  done >>jobs
  timeout 220 xargs -P "$(nproc)" -I{} bash -c '{}' <jobs
  timeout 30 nvcc cu_*.o cc_*.o -o kvb_gpu_bench -lpthread
fi

cd "$folder"
echo "== against the CPU twins"
timeout 60 ./kvb_gpu_bench check 40
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    echo "== $tool"
    timeout 40 compute-sanitizer --tool "$tool" --error-exitcode 1 ./kvb_gpu_bench check 2
  done
else
  echo "== no compute-sanitizer here"
fi
echo "== times"
timeout 100 ./kvb_gpu_bench time | tee "${OUT:-.}/gpu_times.txt"
